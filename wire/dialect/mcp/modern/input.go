package modern

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A state begins with the prefix of its owner.
const (
	ofRun  = "r" // a hook that is waiting
	ofHook = "h" // a hook that has ended; the state that it printed follows
)

// local is the identity in a hook's state if only the connection identifies the client.
const local = "local"

// opened returns the content of a request's requestState: the state that a hook printed (kept), the id of a run, or
// neither. what is the digest of the request.
func (c *Conn) opened(m *wire.Message, what string) (kept, id string, err error) {
	sealed := scan.Get(m.Params, "requestState")
	if sealed == nil || !slices.Contains(asking, m.Method) {
		return "", "", nil
	}
	text, _ := scan.Text(sealed)
	state, err := c.s.seal.open(text, c.identity, what)
	if err != nil && c.owned {
		state, err = c.s.seal.open(text, local, what)
	}
	switch {
	case err != nil:
		return "", "", err
	case strings.HasPrefix(state, ofRun):
		return "", state[len(ofRun):], nil
	}
	return state[len(ofHook):], "", nil
}

// asked checks the questions in a hook's result, and returns the result with an encrypted requestState. what is the
// digest of the request.
func (c *Conn) asked(m *wire.Message, result json.RawMessage, what string) (json.RawMessage, error) {
	failed := func(why string) (json.RawMessage, error) {
		if warn := c.conn.Caller.Connection().Warn; warn != nil {
			warn("the hook of " + wire.Quote(m.Method) + " requested input, but " + why)
		}
		return nil, wire.NewError(wire.CodeInternal, "the hook failed")
	}
	questions, state := scan.Get(result, "inputRequests"), scan.Get(result, "requestState")
	text, ok := scan.Text(state)
	switch {
	case !slices.Contains(asking, m.Method):
		return failed("this method cannot request input from the client")
	case questions == nil && state == nil:
		return failed("it printed neither inputRequests nor requestState")
	case state != nil && !ok, questions != nil && scan.Type(questions) != 'o':
		return failed("inputRequests is not an object, or requestState is not a string")
	}
	for _, q := range scan.Members(questions) {
		method, _ := scan.Text(scan.Get(q, "method"))
		if needs(method, nil) == nil {
			return failed("clients do not answer " + wire.Quote(method))
		}
		if e := lacking(meta(m.Params, MetaCapabilities), method, scan.Get(q, "params")); e != nil {
			return nil, e
		}
	}
	if state == nil {
		return result, nil
	}
	identity := c.identity
	if c.owned {
		identity = local
	}
	sealed := c.s.seal.close(ofHook+text, identity, what, c.s.runs.wait)
	return scan.Splice(result, "requestState", scan.AppendQuoted(nil, sealed)), nil
}

// writeInput writes the client's responses and the hook's state to a file for the hook. If there are none, it returns
// "".
func writeInput(m *wire.Message, kept string) (file string, err error) {
	answers := scan.Get(m.Params, "inputResponses")
	if scan.Type(answers) != 'o' && kept == "" || !slices.Contains(asking, m.Method) {
		return "", nil
	}
	var o scan.Object
	if scan.Type(answers) == 'o' {
		o.Add("inputResponses", answers)
	}
	if kept != "" {
		o.Text("requestState", kept)
	}
	f, err := os.CreateTemp("", "rpcx-input-") // creates the file with mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(append(o.End(), '\n'))
	if err = cmp.Or(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
	}
	return f.Name(), err
}
