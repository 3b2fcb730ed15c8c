package tapeview

import (
	"bytes"
	"fmt"
	"slices"
	"time"
)

// A run is a sequence of items of one stream, interrupted only by items of other streams. In text, it is printed as its
// first and last item with the number of items between them.
type run struct {
	stream string
	first  Row
	second Row // without a message
	last   Row // the latest item, if there are several
	count  int
}

// maxRuns is the maximum number of runs at the same time.
const maxRuns = 100

// fold adds an item to the run of its stream. It returns false if there are too many runs.
func (p *printer) fold(row *Row) bool {
	key := fmt.Sprint(row.Conn, row.Dir, row.Of, row.ID)
	kept := keep(row)
	i := slices.IndexFunc(p.runs, func(r *run) bool { return r.stream == key })
	switch {
	case i < 0 && len(p.runs) >= maxRuns:
		return false
	case i < 0:
		p.runs = append(p.runs, &run{stream: key, first: kept, count: 1})
	default:
		r := p.runs[i]
		if r.count == 1 {
			r.second = kept
			r.second.Body = nil
		}
		r.last = kept
		r.count++
	}
	return true
}

// keep returns a copy of a row with only as much of the message as is shown.
func keep(row *Row) Row {
	r := *row
	r.Body = bytes.Clone(row.Body[:min(len(row.Body), maxBrief)])
	r.Raw = nil
	return r
}

// flush prints all runs and removes them.
func (p *printer) flush() {
	for _, r := range p.runs {
		p.message(&r.first)
		switch between := r.count - 2; {
		case between == 1:
			p.folded(r, "⋮ one more")
		case between > 1:
			p.folded(r, fmt.Sprintf("⋮ %d more", between))
		}
		if r.count > 1 {
			last := r.last
			last.Gap = last.Time - r.first.Time
			p.message(&last)
		}
	}
	p.runs = nil
}

// folded prints the line that represents the items between the first and the last, with the number and time of the first
// of them.
func (p *printer) folded(r *run, text string) {
	row := r.second
	row.Gap = 0
	if d := r.last.Time - r.first.Time; d > 0 {
		text += ", one every " + shortTime(d/time.Duration(r.count-1))
	}
	p.line(&row, "┄▶", colorFaint, text, "", "")
}
