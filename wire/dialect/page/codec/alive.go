package codec

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// maxBeats bounds the peer's heartbeats that are not yet answered. More heartbeats are ignored.
const maxBeats = 16

// beat reports whether m is a heartbeat of the peer, and passes it to KeepAlive, which answers it.
func (c *Codec) beat(m *wire.Message) (bool, error) {
	rule := c.d.Page.Alive.Of(c.o.Serving)
	if rule == nil || rule.Is == nil || m.Kind == wire.Invalid && scan.Valid(m.Raw, wire.DefaultMaxDepth) != nil {
		return false, nil
	}
	is, err := rule.Is.Holds(m.Raw, c.Scope().Value)
	if is && err == nil && c.beats != nil && len(c.beats) < maxBeats {
		c.beats <- bytes.Clone(m.Raw) // never blocks, because only this goroutine sends
	}
	return is, err
}

// Begin starts the local heartbeats.
func (c *Codec) Begin() {
	select {
	case c.beats <- nil:
	default:
	}
}

// Bounds of the time between two heartbeats, in milliseconds.
const (
	shortest = 10
	longest  = 1e9
)

// KeepAlive answers the peer's heartbeats, and sends heartbeats after Begin, until ctx ends or a program fails. It
// returns the program's error. If the dialect file has no heartbeats, it returns at once.
func (c *Codec) KeepAlive(ctx context.Context, caller dialect.Caller) error {
	rule := c.d.Page.Alive.Of(c.o.Serving)
	if c.beats == nil {
		return nil
	}
	t := time.NewTicker(longest * time.Millisecond)
	defer t.Stop()
	say := func(prog load.Prog, in json.RawMessage) error {
		msg, err := prog.First(in, c.Scope().Value)
		if err == nil && msg != nil {
			_ = caller.Notify(ctx, dialect.Op{Kind: dialect.Raw, Params: msg}) // a failure means that the connection has closed
		}
		return err
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case beat := <-c.beats:
			if beat != nil {
				err = say(rule.Answer, beat)
				break
			}
			var every json.RawMessage
			every, err = rule.Every.First(c.kept(), c.Scope().Value)
			if ms, _ := strconv.ParseFloat(string(every), 64); ms > 0 {
				t.Reset(time.Duration(min(max(ms, shortest), longest) * float64(time.Millisecond)))
			}
		case <-t.C:
			err = say(rule.Send, c.kept())
		}
		if err != nil {
			return err
		}
	}
}
