package request

import (
	"strconv"

	"rpcx/commands/cmdline"
	"rpcx/format"
	"rpcx/wire"
)

// AdviseUntaken tells the user, where nothing came of what c read, of a notification that
// nothing took, and of the command that takes it. It returns err with that advice in it,
// if err is a failure; else the advice is printed.
func (c *Consumer) AdviseUntaken(err error) error {
	method := c.env.Untaken.Load()
	if c.data || method == nil {
		return err
	}
	name := strconv.Quote(format.Cut(*method, 200))
	hint, fix := name+" came, and nothing took it", []string(nil)
	if cmdline.IsSafeName(*method) {
		fix = c.env.Line.WithMore("--method=" + *method)
	} else {
		hint += ": --method NAME takes it"
	}
	if err == nil {
		c.env.Console.Event(wire.Event{Kind: wire.Guidance, Message: hint, Fix: fix})
		return nil
	}
	f := wire.AsFault(err)
	if f == nil || f.Hint != "" {
		return err
	}
	g := *f
	g.Hint, g.Fix = hint, fix
	return &g
}
