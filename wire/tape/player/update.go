package player

import (
	"bufio"
	"cmp"
	"io"
	"sort"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// Update writes the tape to w with live messages in place of those that differ;
// results are those of its connections, in their order. Lines that are
// conditions, notes and everything that does not differ stay as they are; so do
// ids and times.
func Update(w io.Writer, t *transcript.Transcript, results []*Findings) error {
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
			return cmp.Or(u.err(), werr, to.Flush())
		}
		if err != nil {
			return err
		}
		b = u.append(b[:0], line)
	}
}

// An updater takes the findings by line, as the tape is read. None but those of the line
// are in memory.
type updater struct {
	t       *transcript.Transcript
	results []*Findings
	begins  []int         // of each of results: how many findings those before it have
	byLine  multimap      // the findings of all results, counted through, by their place
	next    int           // the place in byLine of those of the next line
	last    time.Duration // of the line before
}

// The places of findings: twice a line's number is before it, one more is at the line or behind it.
const atEnd = 1 << 62

// placeOf returns the place of a finding of a connection: what came before all else on it
// stands before its first line.
func placeOf(f place, t *transcript.Track) uint64 {
	switch {
	case f.Kind != Extra || f.Line > 0:
		return 2*uint64(f.Line) + 1
	case t.Len() > 0:
		first := t.Entry(0)
		return 2 * uint64(first.Line)
	}
	return atEnd
}

func newUpdater(t *transcript.Transcript, results []*Findings) *updater {
	u := &updater{t: t, results: results}
	n := 0
	for k, all := range results {
		u.begins = append(u.begins, n)
		for i := range all.Len() {
			u.byLine.add(placeOf(all.at(i), t.Tracks[k]), int32(n+i))
		}
		n += all.Len()
	}
	u.byLine.sorted()
	return u
}

// of returns the connection of a finding of all results.
func (u *updater) of(number int) int {
	return sort.SearchInts(u.begins, number+1) - 1 // of those without findings, the last
}

// at returns a finding of all results, and the entry that it is about; nil: none.
func (u *updater) at(number int) (f place, entry *transcript.Entry) {
	n := u.of(number)
	if f = u.results[n].at(number - u.begins[n]); f.Kind != Extra {
		entry = u.t.Tracks[n].Entry(f.entry)
	}
	return f, entry
}

// append appends line as it is, with the messages that came before and after it.
func (u *updater) append(out []byte, line *tape.Line) []byte {
	var changed []match.Difference
	var extra [][]byte
	missing := false
	at := 2*uint64(line.Number) + 1
	u.last = line.Time
	for ; u.next < len(u.byLine) && u.byLine[u.next].key <= at; u.next++ {
		f, e := u.at(int(u.byLine[u.next].val))
		switch {
		case e == nil && u.byLine[u.next].key < at:
			out = u.extra(out, line.Conn, f.msg)
		case e == nil:
			extra = append(extra, f.msg)
		case e.Batched():
		case f.Kind == Missing:
			missing = true
		case !e.Handwritten:
			changed = append(changed, match.Difference{Pointer: f.Pointer, Want: f.Want, Got: f.Got})
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
	for ; u.next < len(u.byLine); u.next++ {
		number := int(u.byLine[u.next].val)
		f, _ := u.at(number)
		out = u.extra(out, u.t.Tracks[u.of(number)].Conn, f.msg)
	}
	return out
}

// err returns the error of the temporary files; nil if there was none.
func (u *updater) err() error {
	for _, r := range u.results {
		if err := r.Err(); err != nil {
			return err
		}
	}
	return nil
}
