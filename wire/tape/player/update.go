package player

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// Update writes the tape to w with live messages in place of those that differ;
// results are the differences of its connections, in their order. Lines that are
// conditions, notes and everything that does not differ stay as they are; so do
// ids and times.
func Update(w io.Writer, t *transcript.Transcript, results [][]*Found) error {
	r, err := t.Reader()
	if err != nil {
		return err
	}
	u := newUpdater(t, results)
	to := bufio.NewWriterSize(w, 64<<10)
	b := r.Header().Append(nil)
	for {
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

// An updater takes the differences by line, as the tape is read.
type updater struct {
	changes []change      // in the order of their places: those of the lines that are still to come
	last    time.Duration // of the line before
}

// A change is a difference at its place on the tape.
type change struct {
	*Found
	at    uint64
	conn  int
	entry *transcript.Entry // which it is about; nil: none
}

// The places of changes: twice a line's number is before it, one more is at the line or behind it.
const atEnd = 1 << 62

// placeOf returns the place of a difference of a connection: a message before all others stands before its first line.
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
	u := &updater{}
	for k, all := range results {
		track := t.Tracks[k]
		for _, f := range all {
			c := change{Found: f, at: placeOf(f, track), conn: track.Conn}
			if c.Kind != match.Extra {
				c.entry = track.Entry(f.entry)
			}
			u.changes = append(u.changes, c)
		}
	}
	slices.SortStableFunc(u.changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return u
}

// append appends line unchanged, with the received messages before and after it.
func (u *updater) append(out []byte, line *tape.Line) []byte {
	var changed []match.Difference
	var extra [][]byte
	missing := false
	at := 2*uint64(line.Number) + 1
	u.last = line.Time
	for ; len(u.changes) > 0 && u.changes[0].at <= at; u.changes = u.changes[1:] {
		switch c := u.changes[0]; {
		case c.entry == nil && c.at < at:
			out = u.extra(out, line.Conn, c.msg)
		case c.entry == nil:
			extra = append(extra, c.msg)
		case c.entry.Batched():
		case c.Kind == match.Missing:
			missing = true
		case !c.entry.Handwritten:
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

// extra appends the line of a message that came.
func (u *updater) extra(out []byte, conn int, msg []byte) []byte {
	line := tape.Line{Kind: tape.Message, Time: u.last, Conn: conn, Dir: wire.Recv}
	line.SetPayload(msg)
	return line.Append(out)
}

// rest appends what came on connections that have no messages on the tape.
func (u *updater) rest(out []byte) []byte {
	for _, c := range u.changes {
		out = u.extra(out, c.conn, c.msg)
	}
	return out
}
