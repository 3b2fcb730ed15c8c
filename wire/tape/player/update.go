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
func Update(w io.Writer, t *transcript.Transcript, results []*Result) error {
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
	extra   map[int][]ExtraMessage // messages to add after a line
}

func (u *updater) add(track *transcript.Track, r *Result) {
	if u.changed == nil {
		u.changed, u.missing, u.extra = map[int][]match.Difference{}, map[int]bool{}, map[int][]ExtraMessage{}
	}
	for i, found := range r.Live {
		if e := track.Entry(int32(i)); !e.Hand && !e.Batched() {
			for _, f := range found {
				u.changed[int(e.Line)] = append(u.changed[int(e.Line)], match.Difference{Pointer: f.Pointer, Want: f.Want, Got: f.Got})
			}
		}
	}
	for _, i := range r.Missing {
		if e := track.Entry(int32(i)); !e.Batched() {
			u.missing[int(e.Line)] = true
		}
	}
	for _, x := range r.Extras {
		line := 1
		if x.After != transcript.None {
			line = int(track.Entry(int32(x.After)).Line)
		}
		u.extra[line] = append(u.extra[line], x)
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
	for _, x := range u.extra[number] {
		more := tape.Line{Kind: tape.Message, Time: line.Time, Conn: line.Conn, Dir: wire.Recv}
		more.SetPayload(x.Msg)
		out = more.Append(out)
	}
	return out
}
