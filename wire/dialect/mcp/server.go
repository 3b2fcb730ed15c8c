package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/mcp/modern"
	"rpcx/wire/dialect/page/server"
	"rpcx/wire/scan"
)

// maxTasks bounds the stored tasks.
const maxTasks = 1024

// tasks contains the local tasks of a connection. On a server, a call of a tool can become a task if the tool's method is a job. On a
// client, a request can become a task if it has a hook. The call gets its response at once. The result is stored until the peer requests
// it, the connection closes, or the ttl that the peer requested expires.
type tasks struct {
	*modern.Conn // answers the requests of versions without a handshake; nil on a client

	conn   server.Conn
	client *client // the client of the same connection

	mu   sync.Mutex
	list []*task // oldest first; the oldest ended task is removed first; the limit of pending requests bounds running tasks
}

func newServer(host server.Host) server.Native {
	m := modern.New(host)
	return server.Native{Posts: m.Posts(), End: m.End, Changed: m.Changed, Open: func(c server.Conn) server.Flow {
		if m.Owns(c.Caller) {
			return server.NoFlow{}
		}
		return &tasks{conn: c, client: c.Codec.Flow().(*client), Conn: m.Open(c)}
	}}
}

// Begin starts a task if the params of a request ask for one and the handshake declared tasks.
func (a *tasks) Begin(ctx context.Context, in *dialect.Inbound, carried string) (context.Context, server.Work, error) {
	wanted := scan.Get(in.Msg.Params, "task")
	switch {
	case scan.Type(wanted) != 'o':
		return ctx, nil, nil
	case carried == "":
		if !a.client.acceptsTask(in.Msg.Method) {
			return ctx, nil, nil
		}
		in.Msg.Params = scan.Without(in.Msg.Params, "task")
	case !a.conn.Serving || a.conn.SingleExchange || !a.hasJobs():
		return ctx, nil, nil
	default:
		if kind, _ := a.conn.Responder.Kind(carried); kind != catalog.Job {
			e := wire.NewError(wire.CodeNoMethod, carried+" cannot run as a task")
			e.Raw = e.JSON() // Raw marks that the method exists
			return ctx, nil, e
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	t := newTask(a, in.Msg.ID, wanted, cancel)
	a.add(t)
	a.client.serves.Store(string(in.Msg.ID), t)
	return ctx, t, in.Emit(wire.Event{Kind: wire.Data, Final: true, Data: scan.Pair("task", t.line())})
}

// hasJobs reports whether a local method is a job. Only then does the server declare that calls can become tasks.
func (a *tasks) hasJobs() bool {
	c := a.conn.Backend.Catalog()
	return c != nil && slices.ContainsFunc(c.Methods, func(m catalog.Method) bool { return m.Kind == catalog.Job })
}

// Answer answers a request about the tasks of this connection. mine is false for other requests.
func (a *tasks) Answer(ctx context.Context, m *wire.Message) (result json.RawMessage, mine bool, err error) {
	switch m.Method {
	case taskList, taskGet, taskResult, taskCancel:
	default:
		return nil, false, nil
	}
	if a.conn.Serving && !a.hasJobs() || !a.conn.Serving && !slices.ContainsFunc(asksTask, a.client.acceptsTask) {
		return nil, false, nil
	}
	if m.Method == taskList {
		result, err = a.lines(m.Params)
		return result, true, err
	}
	t, err := a.find(m.Params)
	switch {
	case err != nil:
	case m.Method == taskResult:
		result, err = t.wait(ctx)
	case m.Method == taskCancel:
		if err = t.stop(); err == nil {
			result = t.line()
		}
	default:
		result = t.line()
	}
	return result, true, err
}

func (a *tasks) add(t *task) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expireLocked()
	if len(a.list) >= maxTasks {
		if i := slices.IndexFunc(a.list, (*task).isOver); i >= 0 {
			a.list = slices.Delete(a.list, i, i+1)
		}
	}
	a.list = append(a.list, t)
}

// expireLocked removes the ended tasks whose ttl has expired.
func (a *tasks) expireLocked() { a.list = slices.DeleteFunc(a.list, (*task).isExpired) }

func (a *tasks) find(params json.RawMessage) (*task, error) {
	id, _ := scan.Text(scan.Get(params, "taskId"))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expireLocked()
	if i := a.indexLocked(id); i >= 0 {
		return a.list[i], nil
	}
	return nil, wire.Errorf(wire.CodeInvalidParams, "there is no task %s", strconv.Quote(id))
}

func (a *tasks) indexLocked(id string) int {
	return slices.IndexFunc(a.list, func(t *task) bool { return t.id == id })
}

// listPage is the maximum number of tasks in one response.
const listPage = 100

// lines returns a page of the list of tasks. The cursor is the id of the last task on the previous page.
func (a *tasks) lines(params json.RawMessage) (json.RawMessage, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expireLocked()
	list := a.list
	if after, ok := scan.Text(scan.Get(params, "cursor")); ok {
		i := a.indexLocked(after)
		if i < 0 {
			return nil, wire.Errorf(wire.CodeInvalidParams, "there is no page %s", strconv.Quote(after))
		}
		list = list[i+1:]
	}
	var lines scan.Array
	for _, t := range list[:min(len(list), listPage)] {
		lines.Add(t.lineLocked())
	}
	var o scan.Object
	o.Add("tasks", lines.End())
	if len(list) > listPage {
		o.Text("nextCursor", list[listPage-1].id)
	}
	return o.End(), nil
}
