package transcript

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
)

// A loader builds a Transcript from the lines of a tape.
type loader struct {
	t       *Transcript
	tracks  map[int]*loading
	seed    maphash.Seed
	foreign int    // how many messages belong to other dialects
	known   int    // how many messages belong to the dialect
	first   uint32 // the line of the first message that belongs to another dialect
}

// A loading is a Track that is being built.
type loading struct {
	*Track
	last  [2]int32            // the last entry in each direction
	open  [2]map[uint64]int32 // for each direction, the requests without a response, by the hash of their id
	named map[string]int32

	results    map[uint64]int32   // responses that may open a stream, by the hash of the result
	posted     []posted           // the client's latest messages whose HTTP exchange has not come yet
	headed     [][2]string        // the header lines that were stored last
	ended      map[uint64]bool    // streams that the client has ended, by the hash of the name
	endedNamed map[uint64]bool    // streams without an id that the client has ended (see Shape.EndsNamed)
	polls      map[uint64][]int32 // consecutive status requests for running jobs, by the hash of the job's name
	polled     map[int32]uint64   // the hash of the job's name, for each status request
}

// track returns the track to which line belongs.
func (l *loader) track(line *tape.Line) *loading {
	conn, place := line.Conn, Place{uint32(line.Number), line.Time}
	k := l.tracks[conn]
	if k == nil {
		k = &loading{Track: newTrack(l.t, conn), last: [2]int32{None, None}, open: [2]map[uint64]int32{{}, {}}, named: map[string]int32{}, results: map[uint64]int32{}, ended: map[uint64]bool{}, endedNamed: map[uint64]bool{}, polls: map[uint64][]int32{}, polled: map[int32]uint64{}}
		l.tracks[conn] = k
		l.t.Tracks = append(l.t.Tracks, k.Track)
		k.Begin = place
	}
	k.End = place
	return k
}

// add processes the line that r has just read.
func (l *loader) add(r *tape.Reader, line *tape.Line) error {
	switch line.Kind {
	case tape.Opening:
		l.track(line) // also a connection without messages is a track
	case tape.Closing:
		k := l.track(line)
		if k.Close == nil {
			k.Close, k.Closer = line.Close, line.Dir
		}
	case tape.Exchange:
		l.track(line).exchange(line.HTTP)
	case tape.Message:
		return l.message(r, line)
	}
	return nil
}

func (l *loader) message(r *tape.Reader, line *tape.Line) error {
	k := l.track(line)
	e := Entry{Line: uint32(line.Number), Dir: line.Dir, Own: None, Need: k.last[1-line.Dir], elem: None}
	var length int
	e.offset, length = r.Span()
	e.length = uint32(length)
	e.Handwritten = line.Match != "" || line.Bind != nil || line.Vars || line.Name != "" || line.Re != ""
	parts, batch := [][]byte{line.Msg}, false
	if line.Msg != nil {
		parts, batch = match.Elements(l.t.Rules.Shape(), line.Msg)
	}
	if batch && e.Handwritten {
		return errors.New(`a batch cannot have "match", "bind" or "name": write each of its messages as a line`)
	}
	if batch && len(parts) == 0 {
		parts, batch = [][]byte{line.Msg}, false
	}
	for i, part := range parts {
		one := e
		if batch {
			one.elem = int32(i)
		}
		if err := l.entry(k, one, line, part); err != nil {
			return err
		}
	}
	k.last[line.Dir] = int32(k.Len()) - 1
	return nil
}

func (l *loader) entry(k *loading, e Entry, line *tape.Line, msg []byte) error {
	p := l.parse(&e, line, msg)
	if err := k.link(&e, l.seed, line, p); err != nil {
		return err
	}
	k.refusal(&e, line, p.ID)
	k.sent(&e, line)
	switch {
	case e.Kind == wire.Response && e.Dir == wire.Recv:
		k.mayOpen(l.t.Rules, msg)
	case e.Kind == wire.Request || e.Kind == wire.Notification:
		e.latest = None
		if stream := l.t.Rules.StreamOf(msg); stream != nil {
			k.streams[l.t.Rules.HashBytes(stream)] = true
			k.item(&e, l.t.Rules.HashBytes(stream))
		}
		e.Method = l.intern(p.Method)
		e.Hash = l.t.Rules.Hash(p.Method, msg)
	case e.Kind == wire.Invalid && msg != nil:
		e.Hash = l.t.Rules.Hash("", msg)
	case e.Kind == wire.Invalid:
		e.Hash = l.t.Rules.HashBytes(line.Bytes)
	}
	e.Redacted = redact.MayHaveMark(msg)
	if e.Dir == wire.Send {
		k.addHandles(int32(k.Len()), msg)
	}
	k.end(&e, p.Method, msg)
	k.poll(&e, p.Method, msg)
	if err := k.note(&e, line); err != nil {
		return err
	}
	k.add(e)
	return nil
}

// note stores the rare members on the line of the next entry.
func (k *loading) note(e *Entry, line *tape.Line) error {
	if line.Binary {
		k.binary[int32(k.Len())] = true
	}
	if e.Handwritten {
		k.handwritten[int32(k.Len())] = clone(line)
	}
	if !line.Optional {
		return nil
	}
	if e.Kind != wire.Notification || e.Dir != wire.Recv {
		return errors.New(`"optional" is for notifications of the server`)
	}
	k.loose[e.Method] = true
	return nil
}

// parse classifies a message, and counts whether it belongs to the dialect.
func (l *loader) parse(e *Entry, line *tape.Line, msg []byte) (p match.Parsed) {
	if msg == nil {
		return p
	}
	p = match.Parse(l.t.Rules.Shape(), msg, e.Dir == wire.Send)
	e.Kind = p.Kind
	if p.Kind != wire.Invalid || line.Vars || line.Re != "" {
		l.known++
		return p
	}
	if l.foreign++; l.first == 0 {
		l.first = e.Line
	}
	return p
}

// link finds the request to which the next entry e is the response. It also stores the names on the line.
func (k *loading) link(e *Entry, seed maphash.Seed, line *tape.Line, p match.Parsed) error {
	i, id := int32(k.Len()), maphash.Bytes(seed, p.ID.Key())
	switch own, ok := k.named[line.Re]; {
	case line.Re != "" && (!ok || k.Entry(own).Dir == e.Dir):
		return fmt.Errorf(`"re" is %q, but no earlier line of the other side has this name`, line.Re)
	case line.Re != "":
		e.Kind, e.Own = wire.Response, own
	case p.Kind == wire.Response:
		if own, ok := k.open[1-e.Dir][id]; ok {
			e.Own = own
		}
	}
	if p.Kind == wire.Request {
		k.open[e.Dir][id] = i
	}
	if line.Name == "" {
		return nil
	}
	if _, twice := k.named[line.Name]; twice {
		return fmt.Errorf("an earlier line already has the name %q", line.Name)
	}
	k.named[line.Name] = i
	return nil
}

// mayOpen stores the next entry, which is a response whose result may be the name of a stream.
func (k *loading) mayOpen(rules *match.Rules, msg []byte) {
	if len(rules.Shape().Streams) == 0 || len(k.results) >= maxHandles {
		return
	}
	if result := scan.Get(msg, "result"); scan.Type(result) == 's' || scan.Type(result) == 'n' {
		k.results[rules.HashBytes(result)] = int32(k.Len())
	}
}

// poll stores status requests for jobs. In another conversation, only the last status request for each job is required.
func (k *loading) poll(e *Entry, method string, msg []byte) {
	rules := k.of.Rules
	if len(rules.Shape().Polls) == 0 || msg == nil {
		return
	}
	if e.Dir == wire.Send && e.Kind == wire.Request {
		if job := rules.Polled(method, msg); job != nil {
			k.polled[int32(k.Len())] = rules.HashBytes(job)
		}
		return
	}
	job, ok := k.polled[e.Own]
	if !ok || e.Dir != wire.Recv {
		return
	}
	delete(k.polled, e.Own)
	if rules.Running(k.Method(int(e.Own)), msg) {
		k.polls[job] = append(k.polls[job], e.Own, int32(k.Len()))
		return
	}
	for _, i := range k.polls[job] {
		k.optional[i] = true
	}
	k.repeats += len(k.polls[job])
	delete(k.polls, job)
}

// known reports whether id, a JSON value, may be the name of a stream on earlier lines.
func (k *loading) known(id []byte) bool {
	_, result := k.results[k.of.Rules.HashBytes(id)]
	return result || k.IsStream(id)
}

// item links the next entry, which is an item, to the response that opened its stream.
func (k *loading) item(e *Entry, stream uint64) {
	if opener, ok := k.results[stream]; ok && e.Dir == wire.Recv && e.Kind == wire.Notification && e.elem == None && k.Entry(opener).elem == None {
		e.latest = opener
		k.openers[opener] = true
	}
}

func (l *loader) intern(method string) uint32 {
	n, ok := l.t.number[method]
	if !ok {
		method = strings.Clone(method)
		n = uint32(len(l.t.methods))
		l.t.methods = append(l.t.methods, method)
		l.t.number[method] = n
	}
	return n
}

func clone(line *tape.Line) *tape.Line {
	c := *line
	c.Msg = bytes.Clone(line.Msg)
	return &c
}

// finish returns an error if more messages belong to other dialects than to the dialect of the tape.
func (l *loader) finish() error {
	if l.foreign <= l.known {
		return nil
	}
	name, s := l.t.Header.Dialect, l.t.Rules.Shape()
	name = cmp.Or(name, "jsonrpc")
	why := fmt.Sprintf(`it has no %q`, s.Method)
	if !s.Typed {
		why += fmt.Sprintf(` and is not a response, which has %q and a result or an error`, s.ID)
	}
	return tape.Fault(l.t.Name, int(l.first), fmt.Errorf("this is not a message of %s, the dialect in the header: %s", name, why))
}
