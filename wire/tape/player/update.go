package player

import (
	"bufio"
	"cmp"
	"io"
	"sort"

	"rpcx/wire"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/spill"
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
	defer u.close()
	to := bufio.NewWriterSize(w, 64<<10)
	b := r.Header().Append(nil)
	for {
		if _, err := to.Write(b); err != nil {
			return err
		}
		line, err := r.Next()
		if err == io.EOF {
			return cmp.Or(u.err(), to.Flush())
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
	byLine  *spill.Sorted // the findings of all results, counted through
	next    int           // the place in byLine of those of the next line
}

func newUpdater(t *transcript.Transcript, results []*Findings) *updater {
	u := &updater{t: t, results: results}
	var lines spill.Sorter
	n := 0
	for _, all := range results {
		u.begins = append(u.begins, n)
		for i := range all.Len() {
			lines.Add(uint64(all.at(i).Line), uint32(n+i))
		}
		n += all.Len()
	}
	u.byLine = lines.Sorted()
	return u
}

// at returns a finding of all results, and the entry that it is about; nil: none.
func (u *updater) at(number int) (f place, entry *transcript.Entry) {
	n := sort.SearchInts(u.begins, number+1) - 1 // of those without findings, the last
	if f = u.results[n].at(number - u.begins[n]); f.Kind != Extra {
		e := u.t.Tracks[n].Entry(f.entry)
		entry = &e
	}
	return f, entry
}

// append appends line as it is now, and the messages that came after it.
func (u *updater) append(out []byte, line *tape.Line) []byte {
	var changed []match.Difference
	var extra [][]byte
	missing := false
	for ; u.next < u.byLine.Len() && u.byLine.Key(u.next) <= uint64(line.Number); u.next++ {
		f, e := u.at(int(u.byLine.At(u.next)))
		switch {
		case f.Line < line.Number: // before the first line
		case e == nil:
			extra = append(extra, f.msg)
		case e.Batched():
		case f.Kind == Missing:
			missing = true
		case !e.Hand:
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
		more := tape.Line{Kind: tape.Message, Time: line.Time, Conn: line.Conn, Dir: wire.Recv}
		more.SetPayload(msg)
		out = more.Append(out)
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
	return u.byLine.Err()
}

func (u *updater) close() { _ = u.byLine.Close() }
