package player

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// Update writes the tape to w, with live messages in place of recorded ones that differ. results contains the
// differences for each connection, in order. It keeps conditions, notes, ids and times, and lines that do not differ.
func Update(w io.Writer, t *transcript.Transcript, results [][]*Found) error {
	return rewrite(w, t, newUpdater(t, results))
}

// BindVarying writes the tape to w. It binds names to the values that differ, and marks notifications as optional if their number differs.
// Later comparisons ignore both. results contains the differences from a tape that Update has just written, so whatever differs again
// varies each time.
func BindVarying(w io.Writer, t *transcript.Transcript, results [][]*Found) error {
	u := newUpdater(t, results)
	u.binds = true
	return rewrite(w, t, u)
}

// Varying reports whether BindVarying would change the tape.
func Varying(t *transcript.Transcript, results [][]*Found) bool {
	u := newUpdater(t, results)
	return len(u.paced) > 0 || slices.ContainsFunc(u.changes, func(c change) bool { return c.varies() })
}

// varies reports whether f is a different value of the same type.
func (f *Found) varies() bool {
	kind := scan.Type(f.Want)
	return f.Kind == match.Differs && f.Pointer != "" && f.Text == "" && kind == scan.Type(f.Got) && kind != 0 && kind != 'o' && kind != 'a' && kind != '0'
}

// A pace identifies the notifications of one method on one connection.
type pace struct {
	conn   int
	method string
}

// paceOf returns the method of f if f is a notification from the server that is missing or extra. Otherwise it returns
// "".
func paceOf(t *transcript.Track, f *Found) (method string) {
	switch f.Kind {
	case match.Extra:
		if p := match.Parse(t.Of().Rules.Shape(), f.msg, false); p.Kind == wire.Notification {
			method = p.Method
		}
	case match.Missing:
		if e := t.Entry(f.entry); e.Kind == wire.Notification && !e.Batched() {
			method = t.Method(int(f.entry))
		}
	}
	return method
}

func rewrite(w io.Writer, t *transcript.Transcript, u *updater) error {
	r, err := t.Reader()
	if err != nil {
		return err
	}
	to := bufio.NewWriterSize(w, 64<<10)
	for b := r.Header().Append(nil); ; {
		if _, err := to.Write(b); err != nil {
			return err
		}
		line, err := r.Next()
		if err == io.EOF {
			_, werr := to.Write(u.rest(b[:0]))
			return cmp.Or(werr, to.Flush())
		}
		if err != nil {
			return err
		}
		b = u.append(b[:0], line)
	}
}

// An updater applies differences to a tape while it reads the tape.
type updater struct {
	changes []change      // the remaining changes, in the order of their places
	last    time.Duration // the time of the previous line
	binds   bool          // set by BindVarying
	bound   map[string]bool
	shape   *dialect.Shape
	paced   map[pace]bool // the notifications whose number differs; the value is true until a line is marked
}

// A change is a difference and its place on the tape.
type change struct {
	*Found
	at    uint64
	conn  int
	entry *transcript.Entry // the entry that changes, or nil
}

// A place is twice the number of a line, which stands for "before that line". One more stands for "at that line or
// after it".
const atEnd = 1 << 62

// placeOf returns the place of a difference on a connection. The place of a message before all others is before the first line
// of the connection.
func placeOf(f *Found, t *transcript.Track) uint64 {
	switch {
	case f.Kind != match.Extra || f.Line > 0:
		return 2*uint64(f.Line) + 1
	case t.Len() > 0:
		return 2 * uint64(t.Entry(0).Line)
	}
	return atEnd
}

func newUpdater(t *transcript.Transcript, results [][]*Found) *updater {
	u := &updater{bound: map[string]bool{}, shape: t.Rules.Shape(), paced: map[pace]bool{}}
	for k, all := range results {
		track := t.Tracks[k]
		for _, name := range track.Names() {
			u.bound[name] = true
		}
		for _, f := range all {
			c := change{Found: f, at: placeOf(f, track), conn: track.Conn}
			if c.Kind != match.Extra {
				c.entry = track.Entry(f.entry)
			}
			u.changes = append(u.changes, c)
			if method := paceOf(track, f); method != "" {
				u.paced[pace{track.Conn, method}] = !track.Notifies(method)
			}
		}
	}
	slices.SortStableFunc(u.changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return u
}

// append appends line, with changes if necessary, and the received messages that come before and after it.
func (u *updater) append(out []byte, line *tape.Line) []byte {
	var changed []match.Difference
	var extra [][]byte
	missing := false
	at := 2*uint64(line.Number) + 1
	u.pace(line)
	u.last = line.Time
	for ; len(u.changes) > 0 && u.changes[0].at <= at; u.changes = u.changes[1:] {
		switch c := u.changes[0]; {
		case u.binds:
			extra = append(extra, u.vary(line, c)...)
		case c.entry == nil && c.at < at:
			out = u.extra(out, line.Conn, c.msg)
		case c.entry == nil:
			extra = append(extra, c.msg)
		case c.entry.Batched():
		case c.Kind == match.Missing:
			missing = true
		case patchable(line) && c.Placed():
			changed = append(changed, c.Difference)
		}
	}
	if !missing {
		if changed != nil {
			line.Msg = match.Patch(line.Msg, changed)
		}
		out = line.Append(out)
	}
	for _, msg := range extra {
		out = u.extra(out, line.Conn, msg)
	}
	return out
}

// patchable reports whether line contains a recorded message and not a handwritten condition or template.
func patchable(line *tape.Line) bool { return line.Match == "" && !line.Vars && line.Msg != nil }

func (u *updater) extra(out []byte, conn int, msg []byte) []byte {
	line := tape.Line{Kind: tape.Message, Time: u.last, Conn: conn, Dir: wire.Recv, Optional: u.binds}
	line.SetPayload(msg)
	return line.Append(out)
}

// vary handles a change at line for BindVarying. It returns messages that must be added after line.
func (u *updater) vary(line *tape.Line, c change) (added [][]byte) {
	if c.entry != nil && !line.Optional {
		u.bind(line, c)
	}
	if c.entry == nil && u.paced[pace{c.conn, c.Method}] {
		added = append(added, c.msg)
	}
	return added
}

// pace marks line as optional if it is a notification whose number differs.
func (u *updater) pace(line *tape.Line) {
	if !u.binds || len(u.paced) == 0 || line.Kind != tape.Message || line.Dir != wire.Recv || !patchable(line) {
		return
	}
	p := match.Parse(u.shape, line.Msg, false)
	if _, ok := u.paced[pace{line.Conn, p.Method}]; ok && p.Kind == wire.Notification {
		line.Optional = true
	}
}

// bind binds a name to a value on line that differs again.
func (u *updater) bind(line *tape.Line, c change) {
	if !c.varies() || c.entry.Batched() || !patchable(line) {
		return
	}
	program, last := match.Program(line.Msg, c.Pointer)
	name := last
	if !wire.IsName(name) {
		name = "value"
	}
	for n := 2; u.bound[name]; n++ {
		name = fmt.Sprintf("%s_%d", strings.TrimRight(last, "_"), n)
		if !wire.IsName(name) {
			name = fmt.Sprintf("value_%d", n)
		}
	}
	u.bound[name] = true
	line.Bind = append(line.Bind, tape.Binding{Name: name, Value: program})
}

// rest appends messages on connections that have no messages on the tape.
func (u *updater) rest(out []byte) []byte {
	if u.binds {
		return out
	}
	for _, c := range u.changes {
		out = u.extra(out, c.conn, c.msg)
	}
	return out
}
