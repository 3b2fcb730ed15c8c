package codec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// keepNotified stores the values that the dialect file selects from a server's notification.
func (c *Codec) keepNotified(m *wire.Message) error {
	if len(c.d.Page.Keep) == 0 || c.o.Serving {
		return nil
	}
	pattern, ok := matching(c.d.kept, m.Method)
	if !ok {
		return nil
	}
	var without json.RawMessage // a pattern also matches notifications that lack the value
	if pattern == m.Method {
		without = null
	}
	values, err := valuesOf(c.d.Page.Keep[pattern], m.Params, c.scopeOf(m), without)
	if err == nil {
		c.Keep(values)
	}
	return err
}

// scopeOf returns the variables for a message from the peer.
func (c *Codec) scopeOf(m *wire.Message) *program.Scope {
	return c.d.MessageScope(c.Scope(), m)
}

// KeptOf returns, on a server, an object with the values that the dialect file selects from a client's message, or nil if it selects
// none.
func (c *Codec) KeptOf(m *wire.Message) (json.RawMessage, error) {
	pattern, ok := matching(c.d.served, m.Method)
	if !ok {
		return nil, nil
	}
	return valuesOf(c.d.Page.Serve.Keep[pattern], m.Params, c.scopeOf(m), nil)
}

// keepOf stores the outputs of programs for the input in, by name.
func (c *Codec) keepOf(programs map[string]load.Prog, in json.RawMessage) error {
	if len(programs) == 0 {
		return nil
	}
	values, err := valuesOf(programs, in, c.Scope(), null)
	if err == nil {
		c.Keep(values)
	}
	return err
}

// valuesOf returns an object with the outputs of programs for the input in, by name. without stands for a missing
// output.
func valuesOf(programs map[string]load.Prog, in json.RawMessage, sc *program.Scope, without json.RawMessage) (json.RawMessage, error) {
	var values scan.Object
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		val, err := programs[name].First(in, sc.Value)
		if err != nil {
			return nil, err
		}
		val = scan.Or(val, without)
		values.Add(name, bytes.Clone(val))
	}
	return values.End(), nil
}

// Offer sets the function that returns what a server offers on this connection.
func (c *Codec) Offer(offers func() (doc json.RawMessage, names []string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn.Offers = offers
}

// Keep adds the members of an object to the kept values ($kept).
func (c *Codec) Keep(values json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn.Kept, c.shared = Merged(c.conn.Kept, values), nil
}

// refused returns the error of a step. If the step is a login, an error of kind Protocol becomes one of kind Auth.
func refused(step *load.Step, err error) error {
	if f := wire.AsFault(err); step.Login && f != nil && f.Kind == wire.Protocol {
		login := *f
		login.Kind, login.Message = wire.Auth, "the peer refused the login: "+strings.TrimPrefix(f.Message, "the handshake was refused: ")
		return &login
	}
	return err
}

// accept checks a response against the dialect file and stores the values that a step selects.
func (c *Codec) accept(accepted map[string][]any, keep map[string]load.Prog, method string, answer json.RawMessage) error {
	sc := c.Scope()
	for _, text := range slices.Sorted(maps.Keys(accepted)) {
		got, err := program.New(text).First(answer, sc.Value)
		switch {
		case err != nil && scan.Type(answer) != 'o':
			return protocolFault(method, fmt.Sprintf("the response to %s is %s, which is not valid in %s", method, shortened(answer), c.d.Page.Name))
		case err != nil:
			return program.OfPeer(answer, err)
		}
		if err := oneOf(method, text, got, accepted[text]); err != nil {
			return err
		}
	}
	return program.OfPeer(answer, c.keepOf(keep, answer))
}

// oneOf returns a Fault if got, a value in a response, is not one of the accepted values.
func oneOf(method, what string, got json.RawMessage, accepted []any) error {
	var list []string
	for _, want := range accepted {
		val, err := scan.Marshal(want)
		if err == nil && scan.Equal(got, val) {
			return nil
		}
		list = append(list, string(val))
	}
	return protocolFault(method, fmt.Sprintf("in the response to %s, %s is %s, but rpcx supports %s", method, what, shortened(got), strings.Join(list, ", ")))
}

// shortened returns the start of a response.
func shortened(val json.RawMessage) string {
	return cmp.Or(wire.Excerpt(scan.Compact(nil, val), 100), "nothing")
}

// described is a catalog from the peer, with the time when it expires.
type described struct {
	*catalog.Catalog
	until time.Time
}

// expire discards the last catalog if m reports that it has changed.
func (c *Codec) expire(m *wire.Message) {
	for i := range c.d.Page.Describe {
		if stale := c.d.Page.Describe[i].Stale; stale != "" && stale == m.Method {
			c.described.Store(&described{}) // so that a catalog that is being requested is not stored either
			return
		}
	}
}

// stays records how long a response is valid, and whether it is for this user only. The strictest response determines
// both for the whole catalog.
func (f *found) stays(rule *load.Describe, answer json.RawMessage, vals func(string) json.RawMessage) error {
	val, err := rule.Fresh.First(answer, vals)
	if err != nil {
		return err
	}
	ms, _ := strconv.ParseFloat(string(val), 64)
	const most = float64(24 * time.Hour / time.Millisecond)
	age := time.Duration(max(min(ms, most), 0)) * time.Millisecond
	if until := time.Now().Add(age); f.until.IsZero() || until.Before(f.until) {
		f.until = until
	}
	if scan.Type(val) == 'n' && (f.keep.Age == nil || age < *f.keep.Age) {
		f.keep.Age = &age
	}
	private, err := rule.Private.First(answer, vals)
	f.keep.Private = f.keep.Private || string(private) == "true"
	return err
}
