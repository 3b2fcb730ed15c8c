package rules

import (
	"cmp"
	"container/list"
	"slices"
	"time"
)

// Limits for the stored facts about a connection. The newest facts replace the oldest.
const (
	maxCalls   = 10_000   // unanswered requests of one side
	maxAnswers = 1_000    // answered requests of one side
	maxKept    = 10_000   // keys
	maxParams  = 64 << 10 // the size, in bytes, of a request whose params are stored until it is answered
	maxShown   = 100      // requests in the view of the end
	maxClosed  = 4        // closed connections whose facts are still stored
	maxBytes   = 8 << 20  // the size, in bytes, of all requests whose params are stored
)

// A connection is the stored state of one connection of a conversation.
type connection struct {
	pending  map[string]*fifo[*call] // by sender: the unanswered requests, by the key of the id
	answered map[string]*fifo[*call] // by sender: the answered requests, by the key of the id
	bytes    int                     // the total size of the requests whose params are stored
	kept     *fifo[any]
	tape     *fifo[any] // values that are kept for all connections of the tape
	vague    bool       // a line described a message without containing it
}

func newConnection(tape *fifo[any]) *connection {
	k := &connection{kept: newFifo[any](maxKept), tape: tape, pending: map[string]*fifo[*call]{}, answered: map[string]*fifo[*call]{}}
	for _, side := range []string{client, server} {
		k.pending[side], k.answered[side] = newFifo[*call](maxCalls), newFifo[*call](maxAnswers)
		k.pending[side].onRemove, k.answered[side].onRemove = k.forget, k.forget
	}
	return k
}

func (k *connection) forget(c *call) {
	k.bytes -= c.size
	c.size, c.params = 0, nil
}

type call struct {
	n       int
	at      time.Duration
	from    string
	method  string
	id      any
	elem    any
	params  any // nil if there are none, if they are too large, or after the answer
	size    int // the size of the request, in bytes, if its params are stored
	answers int
	same    int  // the number of earlier pending requests with the same id
	cut     bool // whether its HTTP request may have ended without a response
}

// view returns a request in the form in which programs see it as .request of its response.
func (c *call) view() map[string]any {
	return map[string]any{"n": c.n, "t": c.at.Seconds(), "elem": c.elem, "method": c.method, "params": c.params, "answers": c.answers}
}

// ask stores the request in v, to which a response may follow. In a dialect whose messages have a type, the params are
// the whole message.
func (k *connection) ask(v *view, key string, elem any, typed bool) {
	c := &call{n: v.line.Number, at: v.line.Time, from: v.from, method: v.method, id: v.val["id"], elem: elem}
	msg, _ := v.val["msg"].(map[string]any)
	if len(v.raw) <= maxParams && k.bytes+len(v.raw) <= maxBytes {
		c.size = len(v.raw)
		k.bytes += c.size
		if c.params = msg["params"]; typed {
			c.params = msg
		}
	}
	open := k.pending[v.from]
	before := open.get(key)
	if before != nil && before.cut {
		k.forget(before)
		before = nil
	}
	v.val["busy"] = before != nil // another pending request has this id
	if before != nil {
		c.same = before.same + 1
		k.forget(before)
	}
	open.put(key, c)
}

// answer returns the request to which the side from responds, or nil. key is the key of its id. In a dialect whose
// messages have a type, a request can have several answers.
func (k *connection) answer(from, key string, typed bool) *call {
	asker := client
	if from == client {
		asker = server
	}
	c := k.pending[asker].get(key)
	if c == nil {
		if c = k.answered[asker].get(key); c == nil {
			return nil
		}
		again := *c
		c.answers++
		return &again
	}
	first := *c
	if c.same > 0 {
		c.same--
		return &first
	}
	c.answers = 1
	if !typed {
		k.forget(c)
	}
	k.pending[asker].take(key)
	k.answered[asker].drop(key)
	k.answered[asker].put(key, c)
	return &first
}

// unanswered returns the unanswered requests in the form in which programs see them at the end.
func (k *connection) unanswered(now time.Duration) []any {
	var calls []*call
	for _, side := range []string{client, server} {
		k.pending[side].each(func(_ string, c *call) { calls = append(calls, c) })
	}
	slices.SortFunc(calls, func(a, b *call) int { return cmp.Compare(a.n, b.n) })
	all := []any{}
	for _, c := range calls[:min(len(calls), maxShown)] {
		all = append(all, map[string]any{"n": c.n, "from": c.from, "method": c.method, "id": c.id, "age": (now - c.at).Seconds()})
	}
	return all
}

// A fifo is a map of bounded size that removes the oldest value first.
type fifo[V any] struct {
	values   map[string]*list.Element
	order    list.List // of *entry[V], the oldest first
	most     int
	onRemove func(V) // called with each removed value; may be nil
	dropped  bool    // a value was removed to make room
}

type entry[V any] struct {
	key string
	val V
}

func newFifo[V any](most int) *fifo[V] {
	return &fifo[V]{values: map[string]*list.Element{}, most: most}
}

func (f *fifo[V]) get(key string) (v V) {
	if e := f.values[key]; e != nil {
		v = e.Value.(*entry[V]).val
	}
	return v
}

// put sets the value of key. A key that exists keeps its place in the order.
func (f *fifo[V]) put(key string, v V) {
	if e := f.values[key]; e != nil {
		e.Value.(*entry[V]).val = v
		return
	}
	if len(f.values) >= f.most {
		f.dropped = true
		f.drop(f.order.Front().Value.(*entry[V]).key)
	}
	f.values[key] = f.order.PushBack(&entry[V]{key, v})
}

func (f *fifo[V]) drop(key string) {
	if v, ok := f.take(key); ok && f.onRemove != nil {
		f.onRemove(v)
	}
}

// take removes key and returns its value. ok is false if key does not exist.
func (f *fifo[V]) take(key string) (v V, ok bool) {
	e := f.values[key]
	if e == nil {
		return v, false
	}
	f.order.Remove(e)
	delete(f.values, key)
	return e.Value.(*entry[V]).val, true
}

// each calls one for each key, the oldest first.
func (f *fifo[V]) each(one func(key string, v V)) {
	for e := f.order.Front(); e != nil; e = e.Next() {
		in := e.Value.(*entry[V])
		one(in.key, in.val)
	}
}
