package probes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
)

// message returns the message that a step sends, with its variables replaced.
func (r *run) message(ctx context.Context, s *Step) ([]byte, error) {
	text := s.Send
	fill, err := compile(s.Fill, r.vars)
	if err != nil {
		return nil, err
	}
	if fill != nil {
		n := 0
		err := fill.Run(ctx, []byte("null"), func(out json.RawMessage) (bool, error) { return false, json.Unmarshal(out, &n) })
		if err != nil {
			return nil, err
		}
		text = strings.ReplaceAll(text, "${fill}", strings.Repeat("x", min(max(n, 0), wire.DefaultMaxMessage)))
	}
	for name, val := range r.vars {
		text = strings.ReplaceAll(text, "${"+name+"}", string(val))
	}
	return []byte(text), nil
}

// completed adds the dialect's common params to a probe's request. It returns other messages unchanged.
func (c *Conn) completed(msg []byte) ([]byte, error) {
	method := scan.Get(msg, "method")
	if c.CommonParams == nil || scan.Type(method) != 's' || scan.Get(msg, "id") == nil || scan.Valid(msg, wire.DefaultMaxDepth) != nil {
		return msg, nil
	}
	old := scan.Get(msg, "params")
	params, err := c.CommonParams(scan.String(method), old)
	if err != nil || bytes.Equal(params, old) {
		return msg, err
	}
	var o scan.Object
	o.Members(msg, "params")
	o.Add("params", params)
	return o.End(), nil
}

// refuse answers a request from the peer with an error. It is for connections that only probes use.
func (c *Conn) refuse(msg []byte) {
	p := match.Parse(&c.shape, msg, false)
	if p.Kind != wire.Request {
		return
	}
	var o scan.Object
	o.Text("jsonrpc", "2.0")
	o.Add("id", p.ID)
	o.Add("error", wire.NewError(wire.CodeNoMethod, "rpcx answers no requests while it checks the peer").JSON())
	_ = c.inner.Send(o.End())
}

// truth reports whether a program yields true for msg. It returns false if the program fails.
func truth(ctx context.Context, p *jq.Program, msg []byte) bool {
	ok, err := p.Holds(ctx, msg)
	return err == nil && ok
}

// ending describes how a connection ended with err.
func ending(err error) string {
	switch closed, ok := errors.AsType[*wire.CloseError](err); {
	case errors.Is(err, io.EOF):
		return "the peer closed the connection"
	case ok:
		return closed.Error()
	}
	return err.Error()
}
