package a2a

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/server"
	"rpcx/wire/scan"
)

// Error codes of the protocol (section 5.4).
const (
	codeNotFound      = -32001
	codeNotCancelable = -32002
	codeNoPush        = -32003
	codeUnsupported   = -32004
	codeNoCard        = -32007
	codeVersion       = -32009
)

// failure returns an error with the details that the protocol requires (section 9.5).
func failure(code int, reason, message string) *wire.Error {
	return wire.NewError(code, message).WithData([]map[string]string{{
		"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org",
	}})
}

// hookName is the name of the hook that answers messages.
const hookName = "message"

// maxTasks bounds the stored tasks. For a new task, the task that was stored first and has ended is removed.
const maxTasks = 1024

// An agent contains the tasks of a listener, which outlive their connections. All connections share it.
type agent struct {
	host server.Host
	wg   sync.WaitGroup // hooks that are running

	bytes atomic.Int64 // the size of all tasks in bytes

	mu   sync.Mutex
	list []*task // oldest first
}

func newServer(host server.Host) server.Native {
	a := &agent{host: host}
	return server.Native{
		Posts: &wire.HTTPPosts{Check: checkVersion, Status: func(string) int { return http.StatusOK }},
		End:   a.end,
		Open: func(c server.Conn) server.Flow {
			if !c.Serving {
				return server.NoFlow{}
			}
			return &served{agent: a, conn: c}
		},
	}
}

// checkVersion rejects a POST for another protocol version (section 3.6.2). A POST without the header is for version
// 0.3.
func checkVersion(h http.Header, _ []byte) (own bool, err *wire.Error) {
	if version := h.Get("A2A-Version"); version != "1.0" {
		return true, failure(codeVersion, "VERSION_NOT_SUPPORTED", "the version "+strconv.Quote(version)+" is not supported: use A2A-Version: 1.0")
	}
	return true, nil
}

func (a *agent) end() error {
	a.mu.Lock()
	for _, t := range a.list {
		t.cancel()
	}
	a.mu.Unlock()
	a.wg.Wait()
	return nil
}

// add stores a task and removes ended tasks to make room. It returns false if too many tasks are running.
func (a *agent) add(t *task) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.list) >= maxTasks || a.bytes.Load() > maxBytes/2 {
		i := slices.IndexFunc(a.list, (*task).isOver)
		if i < 0 {
			break
		}
		a.bytes.Add(-int64(a.list[i].size()))
		a.list = slices.Delete(a.list, i, i+1)
	}
	if len(a.list) >= maxTasks {
		return false
	}
	a.list = append(a.list, t)
	return true
}

// A served is one connection of an agent.
type served struct {
	server.NoFlow
	agent *agent
	conn  server.Conn
}

// Take answers methods of the protocol that need no hook of their own.
func (s *served) Take(ctx context.Context, in *dialect.Inbound) (result json.RawMessage, mine bool, err error) {
	m := &in.Msg
	answer := methods[m.Method]
	if answer == nil || m.Kind != wire.Request {
		return nil, false, nil
	}
	if _, ok := s.conn.Responder.Kind(m.Method); ok && !s.conn.Responder.ByPattern(m.Method) {
		return nil, false, nil
	}
	if scan.Type(m.Params) != 'o' && len(m.Params) > 0 {
		return nil, true, wire.NewError(wire.CodeInvalidParams, "params must be an object")
	}
	result, err = answer(s, ctx, in)
	return result, true, err
}

type method = func(s *served, ctx context.Context, in *dialect.Inbound) (json.RawMessage, error)

// methods are the methods that need no hook of their own name (section 5.3).
var methods = map[string]method{
	"SendMessage":          (*served).send,
	"SendStreamingMessage": (*served).send,
	"SubscribeToTask":      (*served).subscribe,
	"GetTask":              (*served).get,
	"ListTasks":            (*served).list,
	"CancelTask":           (*served).cancelTask,

	"CreateTaskPushNotificationConfig": noPush,
	"GetTaskPushNotificationConfig":    noPush,
	"ListTaskPushNotificationConfigs":  noPush,
	"DeleteTaskPushNotificationConfig": noPush,
	"GetExtendedAgentCard": func(*served, context.Context, *dialect.Inbound) (json.RawMessage, error) {
		return nil, failure(codeNoCard, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", "the agent has no extended card")
	},
}

func noPush(*served, context.Context, *dialect.Inbound) (json.RawMessage, error) {
	return nil, failure(codeNoPush, "PUSH_NOTIFICATION_NOT_SUPPORTED", "push notifications are not supported")
}

// send starts or continues a task with a message.
func (s *served) send(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	streams := in.Msg.Method == "SendStreamingMessage"
	message := scan.Get(in.Msg.Params, "message")
	if bad := malformed(message); bad != "" {
		return nil, wire.NewError(wire.CodeInvalidParams, bad)
	}
	config := scan.Get(in.Msg.Params, "configuration")
	switch {
	case scan.Get(config, "taskPushNotificationConfig") != nil:
		return noPush(s, ctx, in)
	case streams && s.conn.Caller.Connection().SingleResponse:
		return nil, wire.NewError(wire.CodeInvalidRequest, "a stream requires a client that accepts text/event-stream")
	}
	t, from, err := s.begin(message)
	if err != nil {
		return nil, err
	}
	if streams {
		return s.follow(ctx, in, t, from)
	}
	if string(scan.Get(config, "returnImmediately")) != "true" {
		if err := t.awaitRest(ctx, from); err != nil {
			return nil, err
		}
	}
	return scan.Pair("task", t.json(limitOf(config), true)), nil
}

// begin starts a task with a message, or continues the task that the message names. from is the number of the message's
// first event.
func (s *served) begin(message json.RawMessage) (t *task, from int, err error) {
	if _, ok := s.conn.Responder.Kind(hookName); !ok {
		return nil, 0, wire.NewError(wire.CodeNoMethod, "no hook answers messages: add a hook with the name "+hookName)
	}
	message = bytes.Clone(message)
	id, context := scan.String(scan.Get(message, "taskId")), scan.String(scan.Get(message, "contextId"))
	if id != "" {
		if t, err = s.task(id); err != nil {
			return nil, 0, err
		}
		if context != "" && context != t.context {
			return nil, 0, wire.NewError(wire.CodeInvalidParams, "contextId differs from the task's contextId")
		}
	} else {
		about := *s.conn.Caller.Connection()
		about.SingleExchange = true
		t = &task{agent: s.agent, id: rand.Text(), context: cmp.Or(context, rand.Text()), client: s.client(), about: about, state: inputRequired}
		if !s.agent.add(t) {
			return nil, 0, wire.NewError(wire.CodeServer, "too many tasks are running")
		}
	}
	from, err = t.run(message)
	return t, from, err
}

// malformed describes the first mistake in a message, or returns "".
func malformed(message json.RawMessage) string {
	switch {
	case scan.Type(message) != 'o':
		return "message is missing"
	case scan.String(scan.Get(message, "messageId")) == "":
		return "message.messageId is missing"
	case scan.String(scan.Get(message, "role")) != "ROLE_USER":
		return "message.role must be ROLE_USER"
	}
	for part := range scan.Elements(scan.Get(message, "parts")) {
		if scan.Type(part) == 'o' {
			return ""
		}
	}
	return "message.parts must have at least one part"
}

// subscribe follows a task that is still running.
func (s *served) subscribe(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	t, err := s.find(in.Msg.Params)
	switch {
	case err != nil:
		return nil, err
	case t.isOver():
		return nil, failure(codeUnsupported, "UNSUPPORTED_OPERATION", "the task has ended")
	}
	return s.follow(ctx, in, t, -1)
}

// follow sends the task, and then its events until the task ends or needs input. The last event is the result. The first event has the
// number from or, if from is negative, the next number.
func (s *served) follow(ctx context.Context, in *dialect.Inbound, t *task, from int) (json.RawMessage, error) {
	ev, at := t.opening(from)
	for {
		if err := in.Emit(wire.Event{Kind: wire.Data, Data: ev}); err != nil {
			return nil, err
		}
		var last bool
		var err error
		if ev, last, err = t.event(ctx, at); err != nil || last {
			return ev, err
		}
		at++
	}
}

// cancelTask cancels the hook of a task.
func (s *served) cancelTask(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	t, err := s.find(in.Msg.Params)
	if err != nil {
		return nil, err
	}
	if !t.stop() {
		return nil, failure(codeNotCancelable, "TASK_NOT_CANCELABLE", "the task has ended")
	}
	if err := t.awaitRest(ctx, 0); err != nil {
		return nil, err
	}
	return t.json(-1, true), nil
}
