package scriptling

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A request is a user's call while it is translated.
type request struct {
	method string
	params json.RawMessage
	funcs  map[string]string
	values bool
	made   map[string]string // hooks of the callbacks in params, by id
	codec  *codec
}

// encode converts method and params to the form on the wire. It returns a usage Fault for params that cannot be sent.
func (r *request) encode() error {
	if err := r.translate(); err != nil {
		return err
	}
	depth := perLevel*r.codec.o.MaxDepth - 1 // the message itself is one level
	var bad *scan.Error
	if r.params != nil && errors.As(scan.Valid(r.params, depth), &bad) && bad.Deep {
		return wire.NewFault(wire.Usage, "the arguments are nested too deeply", bad).
			WithHint(fmt.Sprintf("a message can nest at most %d levels, and each list or dict in the arguments takes two", depth+1))
	}
	return nil
}

func (r *request) translate() error {
	if !slices.Contains(wireMethods, r.method) {
		return r.function()
	}
	if !slices.Contains([]string{methodCall, methodNew, methodMethod, methodCallback, methodLog}, r.method) || scan.Type(r.params) != 'o' {
		return r.allUsed()
	}
	params, err := scan.Rebuild(nil, r.params, checkedDepth, func(b []byte, _ int, key, v []byte) ([]byte, error) {
		if scan.IsKey(key, "args") && scan.Type(v) == 'a' || scan.IsKey(key, "kwargs") && scan.Type(v) == 'o' {
			return r.arguments(b, v, "/"+scan.Key(key))
		}
		return append(b, v...), nil
	})
	if err != nil {
		return err
	}
	r.params = params
	return r.allUsed()
}

// argumentsIn maps the type of params to the member of a call that contains them.
var argumentsIn = map[byte]string{'a': "args", 'o': "kwargs"}

// function turns the call into a function.call.
func (r *request) function() error {
	var o scan.Object
	o.Text("name", r.method)
	if member := argumentsIn[scan.Type(r.params)]; member != "" {
		arguments, err := r.arguments(nil, r.params, "")
		if err != nil {
			return err
		}
		o.Add(member, arguments)
	}
	r.method, r.params = methodCall, o.End()
	return r.allUsed()
}

// arguments appends args (an array) or kwargs (an object) as Values. If the user passes Values (--values), a callback
// must be a whole argument.
func (r *request) arguments(b, v []byte, pointer string) ([]byte, error) {
	e := encoder{}
	if len(r.funcs) > 0 {
		e.function = r.callbackAt
	}
	switch {
	case !r.values:
		return e.parts(b, v, pointer)
	case e.function == nil:
		return append(b, v...), nil
	}
	return scan.Rebuild(b, v, checkedDepth, func(b []byte, i int, key, val []byte) ([]byte, error) {
		if id := r.callbackAt(scan.Descend(pointer, i, key)); id != "" {
			return appendCallback(b, id), nil
		}
		return append(b, val...), nil
	})
}

// callbackAt creates a callback if the user passed a function (KEY@on=NAME) at that pointer, and returns its id, or ""
// otherwise.
func (r *request) callbackAt(pointer string) string {
	hook, ok := r.funcs[pointer]
	if !ok {
		return ""
	}
	r.codec.lastBack++
	id := "cb-" + strconv.Itoa(r.codec.lastBack)
	wire.Put(&r.made, id, hook)
	return id
}

// allUsed returns a usage Fault if the user passed a function in a place where the dialect allows no callback.
func (r *request) allUsed() error {
	if len(r.made) == len(r.funcs) {
		return nil
	}
	return wire.NewFault(wire.Usage, "a callback can only be an argument, or be inside one: in args and kwargs of "+
		strings.Join([]string{methodCall, methodNew, methodMethod}, ", "), nil)
}
