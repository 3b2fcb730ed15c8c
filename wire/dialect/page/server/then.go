package server

import (
	"context"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
)

// warn tells the user, once for each program of the dialect file, that the program has failed, if the
// failure is reported nowhere else. It ignores other errors.
func (h *handler) warn(err error) {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Helper {
		return
	}
	which, _, _ := strings.Cut(f.Message, "): ") // the rest is the reason, which may differ each time
	if warn := h.Caller.Connection().Warn; warn != nil {
		if _, told := h.warned.LoadOrStore(which, true); !told {
			warn(f.Message)
		}
	}
}

// public returns what the peer may know of err. It tells the user of a program that failed.
func (h *handler) public(err error) error {
	own, public := program.Public(err)
	if own != nil {
		h.warn(own)
	}
	return public
}

// then sends the notification that follows the answer to m.
func (h *handler) then(ctx context.Context, m *wire.Message, rule *load.Say) error {
	sc := h.of(m)
	if ok, err := rule.When.Holds(m.Params, sc.Value); err != nil || !ok {
		return err
	}
	params, err := rule.Params.First(m.Params, sc.Value)
	if err != nil {
		return err
	}
	return h.Caller.Notify(ctx, dialect.Op{Kind: dialect.Notify, Method: rule.Method, Params: params})
}

// after makes the calls that a client makes after the notification m, whose hook has run.
func (h *handler) after(m *wire.Message) {
	if h.Serving {
		return
	}
	for i := range h.d.Page.After {
		rule := &h.d.Page.After[i]
		if rule.Event != m.Method {
			continue
		}
		sc := h.of(m)
		if ok, err := rule.When.Holds(m.Params, sc.Value); err != nil || !ok {
			continue // the program's failure is told where it is run for a message that is awaited
		}
		params, err := rule.Params.First(m.Params, sc.Value)
		if err != nil {
			continue
		}
		st, err := h.Caller.Open(context.Background(), dialect.Op{Kind: dialect.Internal, Method: rule.Call, Params: params})
		if err == nil {
			go drain(st)
		}
	}
}

// drain reads an unwanted answer until its end or that of the connection.
func drain(st dialect.Stream) {
	defer wire.Guard()
	for {
		if _, err := st.Next(context.Background()); err != nil {
			return
		}
	}
}
