package rules

import (
	"cmp"
	"container/list"
	"slices"
	"time"
)

// What is known of a connection is bounded: the oldest goes first.
const (
	mostCalls   = 10_000   // requests without an answer, of one side
	mostAnswers = 1_000    // requests that were answered, of one side
	mostKept    = 10_000   // keys
	mostParams  = 64 << 10 // bytes of a request whose params are kept for its answer
	mostShown   = 100      // requests in the view of an end
	mostClosed  = 4        // connections that were closed
	mostBytes   = 8 << 20  // of all requests whose params are kept, as text
)

// A connection holds what is known of one connection of a conversation.
type connection struct {
	number int
	asked  map[string]*fifo[*call] // by the side that asked: what was not answered yet, by id
	told   map[string]*fifo[*call] // what was
	bytes  int                     // of the requests whose params are kept
	kept   *fifo[any]
	tape   *fifo[any] // what is kept for all connections
	vague  bool       // a line said only what a message is like
}

func newConnection(number int, tape *fifo[any]) *connection {
	k := &connection{number: number, kept: newFifo[any](mostKept), tape: tape, asked: map[string]*fifo[*call]{}, told: map[string]*fifo[*call]{}}
	for _, side := range []string{client, server} {
		k.asked[side], k.told[side] = newFifo[*call](mostCalls), newFifo[*call](mostAnswers)
		k.asked[side].gone, k.told[side].gone = k.forget, k.forget
	}
	return k
}

// forget drops the params of a call.
func (k *connection) forget(c *call) {
	k.bytes -= c.size
	c.size, c.params = 0, nil
}

// A call is a request.
type call struct {
	n       int
	at      time.Duration
	from    string
	method  string
	id      any
	elem    any
	params  any // nil: none, huge, or answered
	size    int // of the request, where its params are kept
	answers int
	same    int // earlier requests of the same id that wait
}

// view returns what the program of a response sees of its request.
func (c *call) view() map[string]any {
	return map[string]any{"n": c.n, "t": c.at.Seconds(), "elem": c.elem, "method": c.method, "params": c.params, "answers": c.answers}
}

// ask notes the request in v. Where messages are typed, the params are the message.
func (k *connection) ask(v *view, id string, elem any, typed bool) {
	c := &call{n: v.line.Number, at: v.line.Time, from: v.from, method: v.method, id: v.val["id"], elem: elem}
	msg, _ := v.val["msg"].(map[string]any)
	if len(v.raw) <= mostParams && k.bytes+len(v.raw) <= mostBytes {
		c.size = len(v.raw)
		k.bytes += c.size
		if c.params = msg["params"]; typed {
			c.params = msg
		}
	}
	open := k.asked[v.from]
	before := open.get(id)
	v.val["busy"] = before != nil // the id is that of another request without an answer
	if before != nil {
		c.same = before.same + 1
		k.forget(before)
	}
	open.put(id, c)
}

// answer returns the request that the response of id, sent by from, answers, nil
// where there is none. Where typed, a request may have several answers.
func (k *connection) answer(from, id string, typed bool) *call {
	asker := client
	if from == client {
		asker = server
	}
	c := k.asked[asker].get(id)
	if c == nil {
		if c = k.told[asker].get(id); c != nil {
			c.answers++
			again := *c
			again.answers--
			return &again
		}
		return nil
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
	k.asked[asker].take(id)
	k.told[asker].drop(id)
	k.told[asker].put(id, c)
	return &first
}

// unanswered returns what the view of an end shows of the requests without an
// answer.
func (k *connection) unanswered(now time.Duration) []any {
	var calls []*call
	for _, side := range []string{client, server} {
		k.asked[side].each(func(_ string, c *call) { calls = append(calls, c) })
	}
	slices.SortFunc(calls, func(a, b *call) int { return cmp.Compare(a.n, b.n) })
	all := []any{}
	for _, c := range calls[:min(len(calls), mostShown)] {
		all = append(all, map[string]any{"n": c.n, "from": c.from, "method": c.method, "id": c.id, "age": (now - c.at).Seconds()})
	}
	return all
}

// A fifo is a map of bounded size: what was put in first is dropped first.
type fifo[V any] struct {
	values  map[string]*list.Element
	order   list.List // of *entry[V], the oldest first
	most    int
	gone    func(V) // is told of what is dropped; may be nil
	dropped bool    // something was, to make room
}

type entry[V any] struct {
	key string
	val V
}

func newFifo[V any](most int) *fifo[V] {
	return &fifo[V]{values: map[string]*list.Element{}, most: most}
}

// get returns the value of key, and the zero value where there is none.
func (f *fifo[V]) get(key string) (v V) {
	if e := f.values[key]; e != nil {
		v = e.Value.(*entry[V]).val
	}
	return v
}

// put sets the value of key, which keeps its age.
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

// drop forgets key.
func (f *fifo[V]) drop(key string) {
	if v, ok := f.take(key); ok && f.gone != nil {
		f.gone(v)
	}
}

// take takes key out, and returns its value; false where there is none.
func (f *fifo[V]) take(key string) (v V, ok bool) {
	e := f.values[key]
	if e == nil {
		return v, false
	}
	f.order.Remove(e)
	delete(f.values, key)
	return e.Value.(*entry[V]).val, true
}

// each goes through f, the oldest first.
func (f *fifo[V]) each(one func(key string, v V)) {
	for e := f.order.Front(); e != nil; e = e.Next() {
		in := e.Value.(*entry[V])
		one(in.key, in.val)
	}
}
