package validate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rpcx/format"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/validate/probes"
	"rpcx/wire/validate/rules"
)

// probe makes those probes of set that wanted selects.
func (j *peerChecker) probe(ctx context.Context, set []probes.Probe, wanted func(*probes.Probe) bool) error {
	t := &probes.Target{Shared: j.shared, Dial: j.dial, AnswerTimeout: j.patience}
	for i := range set {
		p := &set[i]
		if !wanted(p) || j.leftOut(p) {
			continue
		}
		for _, vars := range j.each(p) {
			if err := j.reopen(ctx, t, p); err != nil {
				return err
			}
			res := t.Run(ctx, p, vars)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := j.tell(p, vars, res); err != nil {
				return err
			}
		}
	}
	return nil
}

// leftOut reports whether a probe must not be made, and reports it as skipped.
func (j *peerChecker) leftOut(p *probes.Probe) bool {
	why := ""
	switch {
	case slices.Contains(j.o.disable, p.Name):
		why = "--disable"
	case (p.Own || p.Bare) && j.endpoint.Reversed == endpoint.Accept:
		why = "it needs a connection of its own, and the peer connects to us"
	case p.Intrusive != "" && !j.o.intrusive:
		why = p.Intrusive + " (--intrusive)"
	case p.For == "try" && len(j.each(p)) == 0:
		why = "it is made for the methods of --try METHOD"
	case len(j.each(p)) == 0:
		why = "the peer does not say that it has a " + p.For
	}
	if why == "" {
		return false
	}
	j.skip(p.Name, why)
	return true
}

// reopen opens the shared connection again if the last probe has ended it.
func (j *peerChecker) reopen(ctx context.Context, t *probes.Target, p *probes.Probe) error {
	if p.Own || p.Bare || t.Shared.Ended() == nil {
		return nil
	}
	_ = j.conv.Close()
	if _, err := j.open(ctx); err != nil {
		return err
	}
	t.Shared = j.shared
	return nil
}

// each returns the variables for each time that a probe is made.
func (j *peerChecker) each(p *probes.Probe) []map[string]json.RawMessage {
	if p.For == "" {
		return []map[string]json.RawMessage{nil}
	}
	return j.facts[p.For]
}

// tell reports the result of a probe.
func (j *peerChecker) tell(p *probes.Probe, vars map[string]json.RawMessage, res probes.Result) error {
	c := report.Case{Name: p.Name, Class: j.endpoint.Dialect, Duration: res.Duration}
	method := ""
	if vars["method"] != nil {
		_ = json.Unmarshal(vars["method"], &method)
		c.Name += " " + method
	}
	j.count.all++
	switch {
	case res.Error != nil:
		c.Error = fmt.Sprintf("%s could not be asked: %v", p.Name, res.Error)
		j.count.failed++
		j.run.Console.Warn(c.Error)
	case res.Broken != "":
		f := finding{
			source: j.endpoint.String(), rule: p.Name, level: string(p.Level), section: sectionOf(p.Page, p.Section), method: method,
			message: p.Sentence + " But " + res.Broken, sent: brief(res.Sent), got: brief(res.Got),
			warning: p.Level == rules.Should && !j.o.strict,
		}
		return j.found(c, f)
	}
	j.r.add(c)
	return nil
}

// found reports the findings of a check, which is a case of the report; without
// findings it has passed. Either all of them are warnings or none is.
func (j *peerChecker) found(c report.Case, all ...finding) error {
	for _, f := range all {
		f.into(&c, !f.warning)
		if err := j.r.print(f); err != nil {
			return err
		}
	}
	switch {
	case len(all) == 0:
	case all[0].warning:
		j.count.warned++
	default:
		j.count.failed++
	}
	j.r.add(c)
	return nil
}

// skip reports a check as left out.
func (j *peerChecker) skip(name, why string) {
	j.count.skipped++
	j.skipped.add(name, why)
	j.r.add(report.Case{Name: name, Class: j.endpoint.Dialect, Skipped: why})
}

// skips are the names of the checks that were left out for one reason.
type skips struct {
	whys  []string
	names map[string][]string
}

func (s *skips) add(name, why string) {
	if s.names == nil {
		s.names = map[string][]string{}
	}
	if s.names[why] == nil {
		s.whys = append(s.whys, why)
	}
	s.names[why] = append(s.names[why], name)
}

// maxShown bounds, in bytes, what a finding shows of a message.
const maxShown = 400

// brief returns a message on one line, shortened.
func brief(msg []byte) string {
	return format.Cut(format.CleanLine(string(msg)), maxShown)
}

// sum prints how many checks there were and which were left out. It returns a
// failure if one has failed. early says that not all checks could be made.
func (j *peerChecker) sum(early bool) error {
	for _, why := range j.skipped.whys {
		j.run.Console.Note("left out, as " + why + ": " + strings.Join(j.skipped.names[why], ", "))
	}
	c := j.count
	text := fmt.Sprintf("%s: %s", j.endpoint, count(c.all, "check"))
	if c.warned > 0 {
		text += ", " + count(c.warned, "warning")
	}
	if c.skipped > 0 {
		text += fmt.Sprintf(", %d left out", c.skipped)
	}
	switch {
	case c.failed == 0 && early:
		return nil
	case c.failed == 0:
		j.run.Console.Note(text + ": passed")
		return nil
	}
	return wire.NewFault(wire.Expectation, fmt.Sprintf("%s: %d failed", text, c.failed), nil)
}
