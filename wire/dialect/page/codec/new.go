package codec

import (
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
)

// Of returns the dialect file's codec behind c, or nil if c does not speak a dialect file.
func Of(c dialect.Codec) *Codec {
	p, _ := c.(*Codec)
	return p
}

// NewCodec returns the codec for one connection.
func (d *Dialect) NewCodec(o dialect.CodecOptions) dialect.Codec { return d.newCodec(o) }

// Abilities returns the flows of the dialect file, and what is unusual about its messages. Notifications that
// name no stream may belong to a request.
func (c *Codec) Abilities() dialect.Abilities {
	of := c.Codec.Abilities() // the messages
	a := dialect.Abilities{
		Greet: c.Greet, Prepare: c.Prepare, Describe: c.Describe, Typing: c.Typing, Shutdown: c.Shutdown,
		RequestID: of.RequestID, AnswerID: of.AnswerID, Arrays: c.d.plan.Array(), OpenEnded: true,
		SendsCancel: c.d.Page.Cancel != nil && c.d.Page.Cancel.HTTP == "send",
	}
	if c.flow != nil {
		a.Job, a.RunningJobs = c.flow.Job, c.flow.RunningJobs
	}
	if c.appends() {
		a.AppendCall = func(b []byte, op *dialect.Op) (msg []byte, id int64, ok bool) {
			if c.own.step.Load() != nil || len(c.d.Page.Leave) > 0 && c.leavesBy(op.Method) || op.Method == dialect.FreshID {
				return b, 0, false // a step of the greeting or the goodbye
			}
			return of.AppendCall(b, op)
		}
	}
	return a
}

// appends reports whether the dialect file's calls are each one message and one answer, of which nothing has
// to be remembered meanwhile.
func (c *Codec) appends() bool {
	p := c.d.Page
	if c.d.plan != nil && !c.d.plan.Appends() {
		return false
	}
	return p.Call == nil && p.Cancel == nil && p.During == load.During{} && c.flow == nil && !c.o.Serving
}

// leavesBy reports whether a step of the goodbye says a method.
func (c *Codec) leavesBy(method string) bool {
	return slices.ContainsFunc(c.d.Page.Leave, func(s load.Goodbye) bool { return s.Call == method || s.Notify == method })
}
