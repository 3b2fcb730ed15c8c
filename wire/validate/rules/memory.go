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
	mostClosed  = 100      // connections that were closed
)

// A connection holds what is known of one connection of a conversation.
type connection struct {
	number int
	asked  map[string]*fifo[*call] // by the side that asked: what was not answered yet, by id
	told   map[string]*fifo[*call] // what was
	kept   *fifo[any]
	tape   *fifo[any] // what is kept for all connections
}

func newConnection(number int, tape *fifo[any]) *connection {
	return &connection{
		number: number,
		asked:  map[string]*fifo[*call]{client: newFifo[*call](mostCalls), server: newFifo[*call](mostCalls)},
		told:   map[string]*fifo[*call]{client: newFifo[*call](mostAnswers), server: newFifo[*call](mostAnswers)},
		kept:   newFifo[any](mostKept),
		tape:   tape,
	}
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
	answers int
}

// view returns what the program of a response sees of its request.
func (c *call) view() map[string]any {
	return map[string]any{"n": c.n, "t": c.at.Seconds(), "elem": c.elem, "method": c.method, "params": c.params, "answers": c.answers}
}

// ask notes the request in v. Where messages are typed, the params are the message.
func (k *connection) ask(v *view, id string, elem any, typed bool) {
	c := &call{n: v.line.Number, at: v.line.Time, from: v.from, method: v.method, id: v.val["id"], elem: elem}
	msg, _ := v.val["msg"].(map[string]any)
	switch {
	case len(v.raw) > mostParams:
	case typed:
		c.params = msg
	default:
		c.params = msg["params"]
	}
	open := k.asked[v.from]
	v.val["busy"] = open.get(id) != nil // the id is that of another request without an answer
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
	c.answers = 1
	if !typed {
		c.params = nil
	}
	k.asked[asker].drop(id)
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
	dropped bool // something was, to make room
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

func (f *fifo[V]) drop(key string) {
	if e := f.values[key]; e != nil {
		f.order.Remove(e)
		delete(f.values, key)
	}
}

// each goes through f, the oldest first.
func (f *fifo[V]) each(one func(key string, v V)) {
	for e := f.order.Front(); e != nil; e = e.Next() {
		in := e.Value.(*entry[V])
		one(in.key, in.val)
	}
}
