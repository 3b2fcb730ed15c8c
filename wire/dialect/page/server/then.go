package server

import (
	"context"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
)

// warn reports the failure of a program of the dialect file to the user, once for each program, if it is not reported elsewhere. It
// ignores other errors.
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

// public returns err as the peer may see it, and reports the failure of a program to the user.
func (h *handler) public(err error) error {
	own, public := program.Public(err)
	if own != nil {
		h.warn(own)
	}
	return public
}

// then sends the notification that follows the response to m.
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

// after makes a client's calls after the notification m, whose hook has ended.
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
			continue // the failure is reported where the program runs for an awaited message
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

// drain reads an unwanted response until it or the connection ends.
func drain(st dialect.Stream) {
	defer wire.Guard()
	for {
		if _, err := st.Next(context.Background()); err != nil {
			return
		}
	}
}
