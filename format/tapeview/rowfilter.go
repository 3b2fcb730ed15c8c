package tapeview

import "context"

// A rowFilter implements --jq and --grep. It also keeps the response to a call that it keeps, because neither is useful
// without the other. If there is a filter, it drops all rows that are not messages.
type rowFilter struct {
	o     Options
	calls map[int]bool // the Numbers of calls that were kept and have no response yet
}

// keeps reports whether to keep row. If a program fails on a row, the row is dropped, because a program for the
// messages of one method rarely works on all others.
func (c *rowFilter) keeps(ctx context.Context, row *Row) bool {
	switch {
	case c.o.JQ == nil && c.o.Grep == nil: // all rows are kept
		return true
	case !row.Kind.isMessage():
		return false
	case row.Kind == Answer && c.calls[row.Of]:
		delete(c.calls, row.Of)
		return true
	}
	keep := c.o.Grep == nil || c.o.Grep.MatchString(row.Name) || c.o.Grep.Match(row.Raw)
	if c.o.JQ != nil {
		keep = keep && row.Valid
	}
	if keep && c.o.JQ != nil {
		yes, err := c.o.JQ.Truth(ctx, row.Raw)
		keep = err == nil && yes
	}
	if keep && row.Kind == Call {
		c.calls[row.Number] = true
	}
	return keep
}
