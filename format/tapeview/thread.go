package tapeview

import (
	"slices"
	"time"

	"rpcx/wire"
)

// A thread follows the calls on one connection, to find the call of each response or item, and the nesting.
//
// Dialects do not specify to which call the calls of the peer belong. If a call arrives while calls in the other
// direction are open, it is shown inside the latest of them, which is probably right.
type thread struct {
	open    []openCall          // unanswered calls, oldest first
	done    map[string]openCall // answered calls, by direction and id, and by the stream that the response names
	ordered []string            // the keys of done, oldest first
}

type openCall struct {
	dir    wire.Direction
	key    string // of its id
	name   string
	number int
	depth  int
	time   time.Duration
}

// Limits for the number of stored calls: unanswered ones, and answered ones that may still have items.
const (
	maxOpen = 1_000
	maxDone = 10_000
)

func (r *reader) thread(conn int) *thread {
	t := r.threads[conn]
	if t == nil {
		t = &thread{done: map[string]openCall{}}
		r.threads[conn] = t
	}
	return t
}

// place sets the members of row that depend on earlier rows.
func (t *thread) place(row *Row) {
	switch row.Kind {
	case Call:
		row.Depth = t.inside(row.Dir)
		t.open = append(t.open, openCall{row.Dir, row.key(), row.Name, row.Number, row.Depth, row.Time})
		if len(t.open) > maxOpen {
			t.open = t.open[1:]
		}
	case Answer:
		t.answer(row)
	case Item:
		t.item(row)
	case Notification, Broken, Note:
		row.Depth = t.inside(row.Dir)
	case Closing:
		t.open = nil
	}
}

// inside returns the depth of a message: one level below the latest open call in the other direction.
func (t *thread) inside(dir wire.Direction) int {
	for _, c := range slices.Backward(t.open) {
		if c.dir != dir {
			return c.depth + 1
		}
	}
	return 0
}

// call returns the position of the oldest open call in the other direction that has the id of row, or -1.
func (t *thread) call(row *Row) int {
	key := row.key()
	return slices.IndexFunc(t.open, func(c openCall) bool { return c.dir != row.Dir && c.key == key })
}

// key returns the key of the row's id.
func (row *Row) key() string { return wire.ID(row.ID).Key().String() }

// answer finds the call of a response. A second response to a call is an item of the call, because some servers stream in this way.
func (t *thread) answer(row *Row) {
	if i := t.call(row); i >= 0 {
		c := t.open[i]
		t.open = slices.Delete(t.open, i, i+1)
		row.belongsTo(c)
		row.Took = row.Time - c.time
		t.remember(callKey(c.dir, c.key), c)
		if named := streamNamed(row.Body); named != "" {
			t.remember(streamKey(row.Dir, named), c)
		}
	} else if c, ok := t.done[callKey(1-row.Dir, row.key())]; ok && row.ID != "" {
		row.Kind = Item
		row.belongsTo(c)
	} else {
		row.Depth = t.inside(row.Dir)
	}
}

// item finds the call that opened the stream of an item: either the response named the stream, or the stream has the id
// of the call.
func (t *thread) item(row *Row) {
	if c, ok := t.done[streamKey(row.Dir, row.ID)]; ok {
		row.belongsTo(c)
		row.Depth++
	} else if i := t.call(row); i >= 0 {
		row.belongsTo(t.open[i])
		row.Depth++
		if row.Final {
			t.open = slices.Delete(t.open, i, i+1)
		}
	} else {
		row.Depth = t.inside(row.Dir)
	}
}

func (row *Row) belongsTo(c openCall) {
	row.Of, row.Depth = c.number, c.depth
	if c.name != "" {
		row.Name = c.name
	}
}

// remember stores an answered call, because items may follow, and removes the oldest one if there are too many.
func (t *thread) remember(key string, c openCall) {
	if _, ok := t.done[key]; !ok {
		t.ordered = append(t.ordered, key)
	}
	t.done[key] = c
	if len(t.ordered) > maxDone {
		delete(t.done, t.ordered[0])
		t.ordered = t.ordered[1:]
	}
}

func callKey(dir wire.Direction, id string) string { return dir.String() + " call " + id }

// streamKey returns the key of a stream whose items have direction dir.
func streamKey(dir wire.Direction, stream string) string { return dir.String() + " stream " + stream }
