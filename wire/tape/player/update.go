package player

import (
	"bufio"
	"io"

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
	u := updater{}
	for n, result := range results {
		u.add(t.Tracks[n], result)
	}
	to := bufio.NewWriterSize(w, 64<<10)
	b := r.Header().Append(nil)
	for {
		if _, err := to.Write(b); err != nil {
			return err
		}
		line, err := r.Next()
		if err == io.EOF {
			return to.Flush()
		}
		if err != nil {
			return err
		}
		b = u.append(b[:0], line)
	}
}

// An updater holds, by number, what each line is replaced by.
type updater struct {
	changed map[int][]match.Difference
	missing map[int]bool
	extra   map[int][][]byte // messages to add after a line
}

func (u *updater) add(track *transcript.Track, all *Findings) {
	if u.changed == nil {
		u.changed, u.missing, u.extra = map[int][]match.Difference{}, map[int]bool{}, map[int][][]byte{}
	}
	for i := range all.Len() {
		f := all.at(i)
		if f.Kind == Extra {
			line := max(f.Line, 1)
			u.extra[line] = append(u.extra[line], f.msg)
			continue
		}
		switch e := track.Entry(f.entry); {
		case e.Batched():
		case f.Kind == Missing:
			u.missing[f.Line] = true
		case !e.Hand:
			u.changed[f.Line] = append(u.changed[f.Line], match.Difference{Pointer: f.Pointer, Want: f.Want, Got: f.Got})
		}
	}
}

func (u *updater) append(out []byte, line *tape.Line) []byte {
	number := line.Number
	if !u.missing[number] {
		if d := u.changed[number]; d != nil {
			line.Msg = match.Patch(line.Msg, d)
		}
		out = line.Append(out)
	}
	for _, msg := range u.extra[number] {
		more := tape.Line{Kind: tape.Message, Time: line.Time, Conn: line.Conn, Dir: wire.Recv}
		more.SetPayload(msg)
		out = more.Append(out)
	}
	return out
}
