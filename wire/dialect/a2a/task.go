package a2a

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Maximum sizes, in bytes, of the messages and events of one task, and of all tasks together.
const (
	maxTaskBytes = 16 << 20
	maxBytes     = 256 << 20
)

// A task is the work on one or more messages that a hook answers (section 4.1.1). To the hook, it is a connection that
// cannot call the client.
type task struct {
	agent   *agent
	id      string
	context string // the contextId
	client  string
	about   dialect.Connection

	mu            sync.Mutex
	change        wire.Gate // opens at each event
	cancelRun     context.CancelFunc
	cancelled     bool
	state         string          // the state without statePrefix
	statusMessage json.RawMessage // the message in the status, or nil
	at            string          // the time of the last state change
	history       []json.RawMessage
	artifacts     []*artifact
	events        []json.RawMessage // for streams
	bytes         int               // the size of history and events in bytes
}

// An artifact is an output of a task.
type artifact struct {
	id    string
	parts []json.RawMessage
}

// message returns a message that the agent sends.
func (t *task) message(text string) json.RawMessage {
	var o scan.Object
	o.Text("messageId", rand.Text())
	o.Text("contextId", t.context)
	o.Text("taskId", t.id)
	o.Text("role", "ROLE_AGENT")
	o.Add("parts", scan.ArrayOf(textPart(text)))
	return o.End()
}

// set sets the state, with a text for the client unless text is "".
func (t *task) set(state, text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancelled {
		return context.Canceled
	}
	var statusMessage json.RawMessage
	if text != "" {
		statusMessage = t.message(text)
	}
	t.setLocked(state, statusMessage)
	return nil
}

func (t *task) setLocked(state string, statusMessage json.RawMessage) {
	t.state, t.statusMessage, t.at = state, statusMessage, time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	if statusMessage != nil {
		t.history = append(t.history, statusMessage)
	}
	var o scan.Object
	o.Text("taskId", t.id)
	o.Text("contextId", t.context)
	o.Add("status", t.statusLocked(state, statusMessage))
	t.addEventLocked(scan.Pair("statusUpdate", o.End()))
}

// statusLocked returns the status (section 4.1.2) with a state and a message, which may be nil. The caller holds the lock.
func (t *task) statusLocked(state string, message json.RawMessage) json.RawMessage {
	var o scan.Object
	o.Text("state", statePrefix+state)
	o.Add("message", message)
	o.Text("timestamp", t.at)
	return o.End()
}

// put adds parts to an artifact, which is new unless it already has parts.
func (t *task) put(a *artifact, parts ...json.RawMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	appends := a.parts != nil
	if !appends {
		t.artifacts = append(t.artifacts, a)
	}
	a.parts = append(a.parts, parts...)
	if t.cancelled {
		return context.Canceled
	}
	if t.state == submitted {
		t.setLocked(working, nil)
	}
	var o scan.Object
	o.Text("taskId", t.id)
	o.Text("contextId", t.context)
	o.Add("artifact", (&artifact{a.id, parts}).json())
	if appends {
		o.Add("append", []byte("true"))
	}
	t.addEventLocked(scan.Pair("artifactUpdate", o.End()))
	if t.bytes > maxTaskBytes || t.agent.bytes.Load() > maxBytes {
		return wire.NewError(wire.CodeServer, "the task's output is too large")
	}
	return nil
}

func (a *artifact) json() json.RawMessage {
	var o scan.Object
	o.Text("artifactId", a.id)
	o.Add("parts", scan.ArrayOf(a.parts...))
	return o.End()
}

// addBytes adds n bytes to the sizes of the task and of the agent.
func (t *task) addBytes(n int) {
	t.bytes += n
	t.agent.bytes.Add(int64(n))
}

func (t *task) addEventLocked(ev json.RawMessage) {
	t.events = append(t.events, ev)
	t.addBytes(len(ev))
	t.change.Pass()
}

// opening returns the first event of a stream, which is the task, and the number of the next event. from is the number
// of a message's first event, or negative for a stream that begins now.
func (t *task) opening(from int) (first json.RawMessage, at int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if from >= 0 { // a message's first event is its submission; the task has its state at that event
		return scan.Pair("task", t.jsonLocked(-1, false, submitted)), from + 1
	}
	return scan.Pair("task", t.jsonLocked(-1, true, "")), len(t.events)
}

// event waits for the event with the number at. last reports whether it is the last one before the task ends or needs
// input.
func (t *task) event(ctx context.Context, at int) (ev json.RawMessage, last bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at >= len(t.events) {
		if err := t.change.Await(ctx, &t.mu); err != nil {
			return nil, false, err
		}
	}
	return t.events[at], at == len(t.events)-1 && isResting(t.state), nil
}

// awaitRest waits until the task ends or needs input. It reads events from the one with the number from.
func (t *task) awaitRest(ctx context.Context, from int) error {
	for at := from; ; at++ {
		if _, last, err := t.event(ctx, at); last || err != nil {
			return err
		}
	}
}

// stop cancels the task. It returns false if the task has already ended.
func (t *task) stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case isOver(t.state):
		return false
	case isResting(t.state): // no hook runs
		t.setLocked(canceled, nil)
	default:
		t.cancelled = true
		t.cancelRun()
	}
	return true
}

// cancel cancels the task's hook, if one was started.
func (t *task) cancel() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancelRun != nil {
		t.cancelled = true
		t.cancelRun()
	}
}

// size returns the size of the task in bytes.
func (t *task) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

func (t *task) isOver() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return isOver(t.state)
}

// status returns the state and the time of the last state change.
func (t *task) status() (state, at string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return statePrefix + t.state, t.at
}

// json returns the task (section 4.1.1) with at most the last messages entries of its history. A negative number selects all
// entries.
func (t *task) json(messages int, artifacts bool) json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.jsonLocked(messages, artifacts, "")
}

// jsonLocked is like json, but with the given state unless state is "". The caller holds the lock.
func (t *task) jsonLocked(messages int, artifacts bool, state string) json.RawMessage {
	var o scan.Object
	o.Text("id", t.id)
	o.Text("contextId", t.context)
	if state != "" {
		o.Add("status", t.statusLocked(state, nil))
	} else {
		o.Add("status", t.statusLocked(t.state, t.statusMessage))
	}
	if artifacts && len(t.artifacts) > 0 {
		o.Add("artifacts", scan.ArrayOf(wire.Map(t.artifacts, (*artifact).json)...))
	}
	history := t.history
	if messages >= 0 && messages < len(history) {
		history = history[len(history)-messages:]
	}
	if len(history) > 0 {
		o.Add("history", scan.ArrayOf(history...))
	}
	return o.End()
}
