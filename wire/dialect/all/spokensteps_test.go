package all_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// opened is an operation that has been started.
type opened struct {
	ready chan struct{} // closed after the operation has opened
	st    dialect.Stream
	said  string // the outcome, if there is no stream
	err   error
	next  chan string // the next event, while await reads it; or nil
}

var kinds = map[string]dialect.OpKind{
	"call": dialect.Call, "sub": dialect.Subscribe, "raw": dialect.Raw, "watch": dialect.Watch, "internal": dialect.Internal,
	"eval": dialect.Eval, "run": dialect.JobRun, "start": dialect.JobStart, "status": dialect.JobStatus,
	"wait": dialect.JobWait, "stop": dialect.JobCancel, "list": dialect.JobList,
	"notify": dialect.Notify, "cancel": dialect.Cancel, "unsubscribe": dialect.Unsubscribe,
}

// take runs a step of an open conversation.
func (s *spoken) take(verb, rest string) error {
	at := s.at - 1
	for name, value := range s.taken {
		if verb == "<" {
			rest = strings.ReplaceAll(rest, name, value)
		}
	}
	name, arg, _ := strings.Cut(rest, " ")
	if kind, ok := kinds[verb]; ok && verb != "notify" && verb != "cancel" {
		return s.open(name, operation(kind, arg))
	}
	ctx, cancel := s.context()
	defer cancel()
	switch verb {
	case "<":
		return s.far.Send([]byte(rest))
	case ">":
		return s.next(ctx, at, "> ", s.came, rest)
	case ">&":
		return s.among(ctx, rest)
	case "note":
		return s.next(ctx, at, "note ", s.notes, rest)
	case "op":
		op, err := spelt(arg)
		if err != nil {
			return err
		}
		return s.open(name, op)
	case "notify":
		return s.p.Notify(ctx, operation(dialect.Notify, rest))
	case "greet":
		s.background(name, func(ctx context.Context) (string, error) { return "greeted", s.p.Handshake(ctx) })
	case "describe":
		s.background(name, func(ctx context.Context) (string, error) {
			c, err := s.mine.Abilities().Describe(ctx, s.p)
			return catalogText(c), err
		})
	case "typing":
		s.background(name, func(ctx context.Context) (string, error) {
			c, err := s.mine.Abilities().Typing(ctx, s.p, arg)
			return catalogText(c), err
		})
	case "cancel":
		o := s.ops[name]
		<-o.ready
		s.background("cancel "+name, func(ctx context.Context) (string, error) { return "left", o.st.Cancel(ctx) })
	case "=":
		if name == "cancel" || name == "close" {
			var op string
			op, arg, _ = strings.Cut(arg, " ")
			name += " " + op
		}
		o := s.ops[name]
		if o == nil {
			return errors.New("there is no such operation")
		}
		if o.next != nil {
			got := <-o.next
			o.next = nil
			return s.want(at, "= "+name+" ", got, arg)
		}
		return s.want(at, "= "+name+" ", s.shown(o), arg)
	case "mask":
		s.masks = append(s.masks, regexp.MustCompile(rest))
	case "take":
		m := regexp.MustCompile(arg).FindStringSubmatch(s.last)
		if m == nil {
			return fmt.Errorf("not in %s", s.last)
		}
		s.taken[name] = m[1]
	case "await":
		o, next := s.ops[name], make(chan string, 1)
		o.next = next
		go func() { next <- s.shown(o) }()
	case "hangup":
		return s.far.Close()
	case "close":
		s.background("close us", func(context.Context) (string, error) { return "closed", s.p.Close() })
	case "over":
		select {
		case <-s.p.Done():
			return s.want(at, "over ", text(s.p.Err()), rest)
		case <-ctx.Done():
			return ctx.Err()
		}
	default:
		return errors.New("unknown step")
	}
	return nil
}

// among finds a message in the ones that follow, in any order.
func (s *spoken) among(ctx context.Context, want string) error {
	for i := 0; ; i++ {
		if i == len(s.early) {
			select {
			case got, ok := <-s.came:
				if !ok {
					return fmt.Errorf("got only %q", s.early)
				}
				s.early = append(s.early, got)
			case <-ctx.Done():
				return fmt.Errorf("got only %q", s.early)
			}
		}
		if like(s.masked(s.early[i]), want) {
			s.early = slices.Delete(s.early, i, i+1)
			return nil
		}
	}
}

func (s *spoken) next(ctx context.Context, at int, prefix string, from chan string, want string) error {
	if len(s.early) > 0 {
		return fmt.Errorf("unexpected messages before: %q", s.early)
	}
	select {
	case got, ok := <-from:
		if !ok {
			return errors.New("the connection has ended")
		}
		return s.want(at, prefix, got, want)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// background runs a function that waits for messages from the peer.
func (s *spoken) background(name string, do func(context.Context) (string, error)) {
	o := &opened{ready: make(chan struct{})}
	s.ops[name] = o
	go func() {
		defer close(o.ready)
		ctx, cancel := s.context()
		defer cancel()
		o.said, o.err = do(ctx)
	}()
}

// open starts an operation, in the background if it sends several messages.
func (s *spoken) open(name string, op dialect.Op) error {
	o := &opened{ready: make(chan struct{})}
	s.ops[name] = o
	do := func() {
		defer close(o.ready)
		if op.Kind < dialect.JobRun {
			o.st, o.err = s.p.Open(s.t.Context(), op)
			return
		}
		job := s.mine.Abilities().Job
		if job == nil {
			o.err = errors.New("the dialect has no jobs")
			return
		}
		o.st, o.err = job(s.t.Context(), s.p, op)
	}
	if op.Kind >= dialect.JobRun && op.Kind != dialect.JobWait || op.Kind == dialect.Eval {
		go do()
	} else {
		do()
	}
	return nil
}

// operation returns the operation for a method with params.
func operation(kind dialect.OpKind, arg string) dialect.Op {
	method, params, _ := strings.Cut(arg, " ")
	op := dialect.Op{Kind: kind, Method: method}
	switch kind {
	case dialect.Raw:
		return dialect.Op{Kind: kind, Params: []byte(arg)}
	case dialect.Eval:
		return dialect.Op{Kind: kind, Code: arg}
	case dialect.JobStatus, dialect.JobWait, dialect.JobCancel:
		op = dialect.Op{Kind: kind, Job: method}
	}
	if params != "" {
		op.Params = json.RawMessage(params)
	}
	return op
}

// shown returns the next event of an operation as text.
func (s *spoken) shown(o *opened) string {
	ctx, cancel := s.context()
	defer cancel()
	select {
	case <-o.ready:
	case <-ctx.Done():
		return "still waits"
	}
	switch {
	case o.err != nil:
		return text(o.err)
	case o.st == nil:
		return o.said
	}
	m, err := o.st.Next(ctx)
	if err == io.EOF {
		return "end"
	}
	if err != nil {
		return text(err)
	}
	return event(s.mine, m)
}

func event(c dialect.Codec, m wire.Message) string {
	ev, err := dialect.EventOf(c, m)
	if m.Event != nil {
		ev, err = *m.Event, nil
	}
	if err != nil {
		return text(err)
	}
	shown := string(ev.AppendJSON(nil))
	if ev.Final {
		shown += " final"
	}
	return shown
}

func text(err error) string {
	var rpc *wire.Error
	switch f := wire.AsFault(err); {
	case err == nil:
		return "no error"
	case f != nil:
		return "fault " + string(scan.JSON(f))
	case errors.As(err, &rpc):
		return "error " + string(scan.JSON(rpc))
	}
	return "failed: " + err.Error()
}

func catalogText(c *catalog.Catalog) string {
	if c == nil {
		return "nothing"
	}
	return string(scan.JSON(c))
}
