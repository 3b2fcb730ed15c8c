package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/jq"
)

// functions are available in the jq expressions of hooks, in addition to jq's own functions.
var functions = []jq.Func{
	{Name: "sleep", Arity: 1, Call: jqSleep},
	{Name: "rpc", Arity: 2, Call: jqRPC},
	{Name: "notify", Arity: 2, Call: jqNotify},
	{Name: "fail", Arity: 2, Call: jqFail},
	{Name: "fail", Arity: 3, Call: jqFail},
	{Name: "object", Arity: 0, Call: jqObject},
}

// A jqContext is what functions know about the hook whose jq expression calls them.
type jqContext struct {
	caller    dialect.Caller // the peer, or nil
	computing *share         // has the slot that the program occupies while it computes
	object    string         // the id of the object whose method was called, or ""
}

type jqContextKey struct{}

func jqContextOf(ctx context.Context) jqContext { return ctx.Value(jqContextKey{}).(jqContext) }

// jqObject implements object. It returns the id of the object whose method was called (RPCX_OBJECT in a command), or
// null.
func jqObject(ctx context.Context, _ any, _ []any) (any, error) {
	if id := jqContextOf(ctx).object; id != "" {
		return id, nil
	}
	return nil, nil
}

// jqSleep implements sleep(SECONDS), which returns its input afterwards.
func jqSleep(ctx context.Context, in any, args []any) (any, error) {
	seconds, ok := jq.Number(args[0])
	if !ok || !(seconds >= 0) {
		return nil, errors.New("sleep needs a number of seconds")
	}
	defer jqContextOf(ctx).computing.pause()()
	if !wire.Sleep(ctx, time.Duration(min(seconds*float64(time.Second), math.MaxInt64/2))) {
		return nil, ctx.Err()
	}
	return in, nil
}

// jqRPC implements rpc(METHOD; PARAMS), which returns the peer's result. In dialects that can express this, the call
// contains the id of the peer's call that waits for it.
func jqRPC(ctx context.Context, _ any, args []any) (any, error) {
	c, method, params, err := asked(ctx, "rpc", args)
	if err != nil {
		return nil, err
	}
	resume := jqContextOf(ctx).computing.pause()
	res, err := c.CallOp(ctx, dialect.Op{Kind: dialect.Call, Method: method, Params: params, Nested: true})
	resume()
	if err != nil {
		return nil, caught(err)
	}
	return jq.Decode(res)
}

// jqNotify implements notify(METHOD; PARAMS), which returns its input after it has sent the notification.
func jqNotify(ctx context.Context, in any, args []any) (any, error) {
	c, method, params, err := asked(ctx, "notify", args)
	if err != nil {
		return nil, err
	}
	defer jqContextOf(ctx).computing.pause()()
	if err := c.Notify(ctx, dialect.Op{Kind: dialect.Notify, Method: method, Params: params}); err != nil {
		return nil, caught(err)
	}
	return in, nil
}

// asked reads the arguments of rpc and notify. It omits params that are null.
func asked(ctx context.Context, what string, args []any) (c dialect.Caller, method string, params json.RawMessage, err error) {
	method, ok := args[0].(string)
	if !ok {
		return nil, "", nil, fmt.Errorf("%s needs the name of a method", what)
	}
	if args[1] != nil {
		params = jq.EncodeArg(ctx, args[1])
	}
	if c = jqContextOf(ctx).caller; c == nil {
		return nil, "", nil, fmt.Errorf("%s: there is no peer to call", what)
	}
	return c, method, params, nil
}

// jqFail implements fail(CODE; TEXT) and fail(CODE; TEXT; DATA), which make the hook return that error.
func jqFail(ctx context.Context, _ any, args []any) (any, error) {
	code := jq.EncodeArg(ctx, args[0])
	_, number := jq.Number(args[0])
	_, text := args[0].(string)
	if !number && !text {
		return nil, fmt.Errorf("fail needs a number or a string for its code, not %s", code)
	}
	message, ok := args[1].(string)
	if !ok {
		message = string(jq.EncodeArg(ctx, args[1]))
	}
	e := &wire.Error{Code: code, Message: message}
	if len(args) > 2 {
		e.Data = jq.EncodeArg(ctx, args[2])
	}
	return nil, jq.Thrown(e, e)
}

// caught converts an error from the peer to an error that try in jq catches as an object.
func caught(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return jq.Thrown(e, e)
	}
	return err
}
