package tapeview

import (
	"context"

	"rpcx/wire/jq"
)

// A rowFilter implements --jq and --grep. It also keeps the response to a call that it keeps, because neither is useful
// without the other. If there is a filter, it drops all rows that are not messages.
type rowFilter struct {
	o     Options
	calls map[int]bool // the Numbers of calls that were kept and have no response yet
}

func newRowFilter(o Options) *rowFilter { return &rowFilter{o: o, calls: map[int]bool{}} }

// all reports whether all rows are kept.
func (c *rowFilter) all() bool { return c.o.JQ == nil && c.o.Grep == nil }

// keeps reports whether to keep row. If a program fails on a row, the row is dropped, because a program for the
// messages of one method rarely works on all others.
func (c *rowFilter) keeps(ctx context.Context, row *Row) bool {
	switch {
	case c.all():
		return true
	case !row.Kind.isMessage():
		return false
	case row.Kind == Answer && c.calls[row.Of]:
		delete(c.calls, row.Of)
		return true
	}
	keep := c.greps(row) && truth(ctx, c.o.JQ, row)
	if keep && row.Kind == Call {
		c.calls[row.Number] = true
	}
	return keep
}

func (c *rowFilter) greps(row *Row) bool {
	return c.o.Grep == nil || c.o.Grep.MatchString(row.Name) || c.o.Grep.Match(row.Raw)
}

func truth(ctx context.Context, program *jq.Program, row *Row) bool {
	if program == nil {
		return true
	}
	if !row.Valid {
		return false
	}
	yes, err := program.Truth(ctx, row.Raw)
	return err == nil && yes
}
