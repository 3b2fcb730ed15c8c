package codec

import (
	"bytes"
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

// keepTold keeps what the dialect file says of a notification of the server.
func (c *Codec) keepTold(m *wire.Message) error {
	if len(c.d.Page.Keep) == 0 || c.o.Serving {
		return nil
	}
	return c.keepOf(c.d.Page.Keep[m.Method], m.Params)
}

// keepServing keeps, where we are the server, what the dialect file says of a notification of the client: in the
// order in which messages come, so that a request behind it finds the values. What fails is
// for the handler of the notification to tell (KeptOf).
func (c *Codec) keepServing(m *wire.Message) {
	if c.o.Serving && c.d.keeps {
		if values, err := c.KeptOf(m); err == nil && values != nil {
			c.Keep(values)
		}
	}
}

// KeptOf returns, as a server, what the dialect file keeps of a message of the client, an object, or nil if it keeps
// nothing of such a one.
func (c *Codec) KeptOf(m *wire.Message) (json.RawMessage, error) {
	rules := c.d.Page.Serve.Keep[m.Method]
	if len(rules) == 0 {
		return nil, nil
	}
	sc := c.Scope()
	sc.Method, sc.Params, sc.ID, sc.Request = m.Method, m.Params, json.RawMessage(m.ID), m.Raw
	sc.Extra = c.d.Extra(m.Raw, sc)
	return valuesOf(rules, m.Params, sc, nil)
}

// keepOf keeps the outputs of programs on in, by their names.
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

// valuesOf returns an object of the outputs of programs on in, by their names; without is in place of
// an output where there is none.
func valuesOf(programs map[string]load.Prog, in json.RawMessage, sc *program.Scope, without json.RawMessage) (json.RawMessage, error) {
	var values scan.Object
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		val, err := programs[name].First(in, sc.Value)
		if err != nil {
			return nil, err
		}
		if val == nil {
			val = without
		}
		values.Add(name, bytes.Clone(val))
	}
	return values.End(), nil
}

// Offer says what is offered on the connection, where we are the server.
func (c *Codec) Offer(told func() (doc json.RawMessage, names []string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn.Offers = told
}

// Keep adds the members of an object to the values that are kept for the
// connection ($kept).
func (c *Codec) Keep(values json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn.Kept, c.shared = Merged(c.conn.Kept, values), nil
}

// refused returns the error of a step, as one of a login if the step is that.
func refused(step *load.Step, err error) error {
	if f := wire.AsFault(err); step.Login && f != nil && f.Kind == wire.Protocol {
		login := *f
		login.Kind, login.Message = wire.Auth, "the peer refuses the login: "+strings.TrimPrefix(f.Message, "the handshake was refused: ")
		return &login
	}
	return err
}

// accept checks that the dialect file accepts an answer and keeps the values that a step of it
// names.
func (c *Codec) accept(accepted map[string][]any, keep map[string]load.Prog, method string, answer json.RawMessage) error {
	sc := c.Scope()
	for _, text := range slices.Sorted(maps.Keys(accepted)) {
		got, err := program.New(text).First(answer, sc.Value)
		switch {
		case err != nil && scan.Type(answer) != 'o':
			return protocolFault(method, fmt.Sprintf("the response to %s is %s, which is not valid in %s", method, shortened(answer), c.d.Page.Name))
		case err != nil:
			return err
		}
		if err := oneOf(method, text, got, accepted[text]); err != nil {
			return err
		}
	}
	return c.keepOf(keep, answer)
}

// oneOf returns the Fault for an answer in which got is not one of the accepted
// values.
func oneOf(method, what string, got json.RawMessage, accepted []any) error {
	var list []string
	for _, want := range accepted {
		val, err := scan.Marshal(want)
		if err == nil && scan.Equal(got, val) {
			return nil
		}
		list = append(list, string(val))
	}
	return protocolFault(method, fmt.Sprintf("the response to %s has %s for %s, rpcx supports %s", method, shortened(got), what, strings.Join(list, ", ")))
}

// shortened returns the beginning of what a peer has answered.
func shortened(val json.RawMessage) string {
	const most = 100
	said := string(scan.Compact(nil, val))
	switch {
	case said == "":
		return "nothing"
	case len(said) > most:
		return said[:most] + "…"
	}
	return said
}

// described is a catalog that the peer has sent, and how long it stays valid.
type described struct {
	*catalog.Catalog
	until time.Time
}

// stillValid returns the last catalog if it is valid and has method, or nil.
func (c *Codec) stillValid(method string) *catalog.Catalog {
	if d := c.described.Load(); d != nil && time.Now().Before(d.until) && d.Method(method) != nil {
		return d.Catalog
	}
	return nil
}

// stays notes for how long a response to a rule's request stays valid; the shortest time counts.
func (f *found) stays(rule *load.Describe, answer json.RawMessage, vals func(string) json.RawMessage) error {
	val, err := rule.Fresh.First(answer, vals)
	ms, _ := strconv.ParseFloat(string(val), 64)
	const most = float64(24 * time.Hour / time.Millisecond)
	until := time.Now().Add(time.Duration(max(min(ms, most), 0)) * time.Millisecond)
	if f.until.IsZero() || until.Before(f.until) {
		f.until = until
	}
	return err
}
