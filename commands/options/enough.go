package options

import (
	"errors"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
)

// Enough are the flags that say when what comes is enough: an end as asked, whoever has
// more to say.
type Enough struct {
	Count int64
	Until string
	For   cmdline.Duration
}

// Flags makes the flags, which store into e.
func (e *Enough) Flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.Number("", "count", "stop after `N` values", 1, &e.Count),
		cmdline.Text("", "until", "", "stop after the value for which `EXPR` (jq) holds", &e.Until),
		cmdline.PositiveDuration("", "for", "stop after `DURATION`", &e.For),
	}
}

// Given reports whether one of the flags is given.
func (e *Enough) Given() bool { return e.Count > 0 || e.Until != "" || e.For > 0 }

// ErrEnough is the cause of a context's end that --for has brought.
var ErrEnough = errors.New("the time asked for is over")

// Begin lets --for run from now on: it ends d with ErrEnough.
func (e *Enough) Begin(d *env.Deadline) {
	if e.For > 0 {
		time.AfterFunc(time.Duration(e.For), func() { d.Cancel(ErrEnough) })
	}
}
