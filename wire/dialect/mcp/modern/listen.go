package modern

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

const (
	acknowledged    = "notifications/subscriptions/acknowledged"
	resourceUpdated = "notifications/resources/updated"
	resourceWatch   = "resources/subscribe" // the hook whose items report updates of a resource
)

// Limits of subscriptions.
const (
	maxListeners = 1000
	maxPending   = 256 // pending notifications per listener
	maxWatched   = 100 // resources, or tasks, per listener
)

// changes maps members of a client's filter to the notifications that they select.
var changes = map[string]string{
	"toolsListChanged":     "notifications/tools/list_changed",
	"promptsListChanged":   "notifications/prompts/list_changed",
	"resourcesListChanged": "notifications/resources/list_changed",
}

// listeners contains the subscriptions of all clients.
type listeners struct {
	mu  sync.Mutex
	all map[*listener]bool
}

// A listener is a subscription: a request that stays open.
type listener struct {
	id      wire.ID
	methods []string // the notifications that it selects
	uris    []string // its resources
	tasks   []string // its tasks

	mu      sync.Mutex
	pending []dialect.Op
	more    chan struct{} // receives a value when pending grows
}

// listen answers a subscription with notifications until the client or the server ends it.
func (c *Conn) listen(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	l := &listener{id: in.Msg.ID, more: make(chan struct{}, 1)}
	filter, err := l.filter(ctx, in.Msg.Params, c)
	if err != nil {
		return nil, err
	}
	if c.conn.Caller.Connection().SingleResponse {
		return nil, wire.NewError(wire.CodeInvalidRequest, listen+" needs a client that accepts text/event-stream")
	}
	if !c.s.listeners.add(l) {
		return nil, tooMany("subscriptions")
	}
	defer c.s.listeners.remove(l)
	if err := c.send(ctx, l, dialect.Op{Method: acknowledged, Params: scan.Pair("notifications", filter)}); err != nil {
		return nil, err
	}
	stop := c.watch(ctx, l)
	defer stop()
	for {
		for op, ok := l.next(); ok; op, ok = l.next() {
			if err := c.send(ctx, l, op); err != nil {
				return nil, err
			}
		}
		select {
		case <-l.more:
		case <-ctx.Done():
			return withID(nil, l.id), nil
		case <-c.s.runs.over:
			return withID(nil, l.id), nil
		}
	}
}

// filter reads the client's filter and returns the part that is accepted.
func (l *listener) filter(ctx context.Context, params json.RawMessage, c *Conn) (json.RawMessage, error) {
	wanted := scan.Get(params, "notifications")
	if scan.Type(wanted) != 'o' {
		return nil, wire.NewError(wire.CodeInvalidParams, listen+" needs the object notifications")
	}
	var o scan.Object
	for key, val := range scan.Named(wanted) {
		if method := changes[key]; method != "" && string(val) == "true" && c.offers(key) {
			l.methods = append(l.methods, method)
			o.Add(key, val)
		}
	}
	for uri := range scan.Elements(scan.Get(wanted, "resourceSubscriptions")) {
		if text, ok := scan.Text(uri); ok && len(l.uris) < maxWatched && c.offers("resources") && !slices.Contains(l.uris, text) {
			l.uris = append(l.uris, text)
		}
	}
	if l.uris != nil {
		o.Add("resourceSubscriptions", scan.TextsOf(l.uris))
	}
	if tasks, err := l.listenForTasks(ctx, scan.Get(wanted, "taskIds"), params, c); err != nil {
		return nil, err
	} else if tasks != nil {
		o.Add("taskIds", scan.TextsOf(tasks))
	}
	return o.End(), nil
}

// offers reports whether the server offers what a member of the filter selects.
func (c *Conn) offers(key string) bool {
	if strings.HasPrefix(key, "tools") {
		return true
	}
	kind, _, _ := strings.Cut(key, "List") // promptsListChanged
	cat := c.conn.Backend.Catalog()
	return cat != nil && slices.ContainsFunc(cat.Methods, func(m catalog.Method) bool { return strings.HasPrefix(m.Name, kind+"/") })
}

// send sends one notification of a subscription.
func (c *Conn) send(ctx context.Context, l *listener, op dialect.Op) error {
	op.Kind, op.Params = dialect.Notify, withID(op.Params, l.id)
	return c.conn.Caller.Notify(ctx, op)
}

// withID adds a subscription's id to params or a result.
func withID(obj json.RawMessage, id wire.ID) json.RawMessage {
	var o, m scan.Object
	m.Members(scan.Get(obj, "_meta"), MetaSubscription)
	m.Add(MetaSubscription, id)
	o.Add("_meta", m.End())
	o.Members(obj, "_meta")
	return o.End()
}

// watch runs the hook for updates of each resource, if the hook is a stream.
func (c *Conn) watch(ctx context.Context, l *listener) (stop func()) {
	if kind, ok := c.conn.Responder.Kind(resourceWatch); !ok || kind != catalog.Stream {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, uri := range l.uris {
		about := scan.Pair("uri", scan.AppendQuoted(nil, uri))
		wg.Go(func() {
			defer wire.Guard()
			_, _ = c.conn.Responder.Respond(ctx, dialect.Request{Method: resourceWatch, Params: about, Stream: true, Emit: func(ev wire.Event) error {
				if ev.Kind == wire.Data {
					l.put(dialect.Op{Method: resourceUpdated, Params: about})
				}
				return ctx.Err()
			}})
		})
	}
	return func() { cancel(); wg.Wait() }
}

func (t *listeners) add(l *listener) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) >= maxListeners {
		return false
	}
	wire.Put(&t.all, l, true)
	return true
}

func (t *listeners) remove(l *listener) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, l)
}

// notify passes a notification to the listeners that it concerns.
func (t *listeners) notify(method string, params json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l := range t.all {
		if slices.Contains(l.methods, method) || method == resourceUpdated && slices.Contains(l.uris, scan.String(scan.Get(params, "uri"))) ||
			method == taskChanged && slices.Contains(l.tasks, scan.String(scan.Get(params, "taskId"))) {
			l.put(dialect.Op{Method: method, Params: params})
		}
	}
}

// put adds a notification, unless an equal one or maxPending others are pending.
func (l *listener) put(op dialect.Op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := func(o dialect.Op) bool { return o.Method == op.Method && string(o.Params) == string(op.Params) }
	if len(l.pending) >= maxPending || slices.ContainsFunc(l.pending, same) {
		return
	}
	l.pending = append(l.pending, op)
	wire.Wake(l.more)
}

func (l *listener) next() (op dialect.Op, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 {
		return op, false
	}
	op = l.pending[0]
	l.pending = slices.Delete(l.pending, 0, 1)
	return op, true
}

// Changed notifies listeners that the lists have changed.
func (s *Server) Changed() {
	for _, method := range changes {
		s.listeners.notify(method, nil)
	}
}
