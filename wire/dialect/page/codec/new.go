package codec

import (
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
)

// Of returns the page's codec behind c; nil if c does not speak a page.
func Of(c dialect.Codec) *Codec {
	switch c := c.(type) {
	case *Codec:
		return c
	case sendsCancel:
		return c.Codec
	case appends:
		return c.Codec
	}
	return nil
}

// sendsCancel is a Codec whose cancels are sent over HTTP as well.
type sendsCancel struct{ *Codec }

// SendsCancel is the marker of dialect.CancelSender.
func (sendsCancel) SendsCancel() {}

// NewCodec returns the codec for one connection.
func (d *Dialect) NewCodec(o dialect.CodecOptions) dialect.Codec {
	c := d.newCodec(o)
	if d.Page.Cancel != nil && d.Page.Cancel.HTTP == "send" {
		return sendsCancel{c}
	}
	return c.appender()
}

// appends is a Codec that is a dialect.CallAppender, too.
type appends struct {
	*Codec
	calls dialect.CallAppender // the codec of the messages
}

// appender returns c as a CallAppender where the page's calls are each one message and one
// answer, of which nothing has to be remembered meanwhile; else c.
func (c *Codec) appender() dialect.Codec {
	p := c.d.Page
	calls, ok := c.Codec.(dialect.CallAppender)
	switch {
	case !ok, c.d.plan != nil && !c.d.plan.Appends():
	case p.Call != nil, p.Cancel != nil, p.During != load.During{}, c.d.HasTasks(), c.o.Serving:
	default:
		return appends{c, calls}
	}
	return c
}

// AppendCall appends a call, unless it stands for a step of the greeting or the goodbye.
func (c appends) AppendCall(b []byte, op *dialect.Op) (msg []byte, id int64, ok bool) {
	if c.own.step.Load() != nil || len(c.d.Page.Leave) > 0 && c.leavesBy(op.Method) || op.Method == dialect.FreshID {
		return b, 0, false
	}
	return c.calls.AppendCall(b, op)
}

// leavesBy reports whether a step of the goodbye says a method.
func (c *Codec) leavesBy(method string) bool {
	return slices.ContainsFunc(c.d.Page.Leave, func(s load.Goodbye) bool { return s.Call == method || s.Notify == method })
}
