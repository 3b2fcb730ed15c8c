package validate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rpcx/format"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/validate"
	"rpcx/wire/validate/probes"
)

// probe makes those probes of set that wanted selects.
func (j *peerChecker) probe(ctx context.Context, set []probes.Probe, wanted func(*probes.Probe) bool) error {
	t := &probes.Target{Shared: j.shared, Dial: j.dial, AnswerTimeout: j.patience}
	for i := range set {
		p := &set[i]
		if !wanted(p) || j.skips(p) {
			continue
		}
		for _, vars := range j.each(p) {
			if !p.Own && !p.Bare && t.Shared.Ended() != nil { // the last probe has ended the shared connection
				_ = j.conv.Close()
				if _, err := j.open(ctx); err != nil {
					return err
				}
				t.Shared = j.shared
			}
			res := t.Run(ctx, p, vars)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := j.reportResult(p, vars, res); err != nil {
				return err
			}
		}
	}
	return nil
}

// needs maps values of probes.Probe.For to the reason for skipping the probe if the user has not given what it needs.
var needs = map[string]string{"try": "it needs --try METHOD", "job": "it needs --try METHOD with a method that is a job"}

// skips reports whether a probe must not be made. If so, it also reports the probe as skipped.
func (j *peerChecker) skips(p *probes.Probe) bool {
	why := ""
	switch {
	case slices.Contains(j.o.disable, p.Name):
		why = "--disable"
	case (p.Own || p.Bare) && j.endpoint.Reversed == endpoint.Accept:
		why = "it needs a new connection, but the peer connects to rpcx"
	case p.Intrusive != "" && !j.o.intrusive:
		why = p.Intrusive + " (--intrusive)"
	case p.Second() && (j.endpoint.Demo != "" || len(j.endpoint.Address.Command) > 0):
		why = "each connection starts its own server"
	case len(j.each(p)) == 0:
		why = cmp.Or(needs[p.For], "the peer does not declare a "+p.For)
	}
	if why == "" {
		return false
	}
	j.skip(p.Name, why)
	return true
}

// each returns the variables for each run of a probe.
func (j *peerChecker) each(p *probes.Probe) []map[string]json.RawMessage {
	if p.For == "" {
		return []map[string]json.RawMessage{nil}
	}
	return j.facts[p.For]
}

// reportResult reports the result of a probe.
func (j *peerChecker) reportResult(p *probes.Probe, vars map[string]json.RawMessage, res probes.Result) error {
	c := report.Case{Name: p.Name, Class: j.endpoint.Dialect, Duration: res.Duration}
	method := ""
	if vars["method"] != nil {
		_ = json.Unmarshal(vars["method"], &method)
		c.Name += " " + method
	}
	switch {
	case res.Skipped != "":
		j.r.skip(c, res.Skipped)
		return nil
	case res.Error != nil:
		c.Error = fmt.Sprintf("could not run the probe %s: %v", p.Name, res.Error)
		j.run.Console.Warn(c.Error)
		j.probeError = cmp.Or(j.probeError, res.Error)
	case res.Broken != "":
		return j.r.check(c, validate.Problem{
			Source: j.endpoint.String(), Rule: p.Name, Level: p.Level, Section: validate.SectionOf(p.Page, p.Section), Method: method, Pointer: validate.Nowhere,
			Message: p.Sentence + " But " + res.Broken, Sent: brief(res.Sent), Got: brief(res.Got), Warning: j.r.warns(p.Level),
		})
	}
	return j.r.check(c)
}

// skip reports a check as skipped.
func (j *peerChecker) skip(name, why string) {
	j.r.skip(report.Case{Name: name, Class: j.endpoint.Dialect}, why)
}

// maxShown bounds the part of a message that a problem shows, in bytes.
const maxShown = 400

// brief returns a message on one line, shortened.
func brief(msg []byte) string {
	return format.Cut(format.CleanLine(string(msg)), maxShown)
}

// noteSkipped prints the skipped checks, one line for each reason.
func (j *peerChecker) noteSkipped() {
	for _, why := range j.r.whys {
		j.run.Console.Note("skipped " + strings.Join(j.r.names[why], ", ") + ": " + why)
	}
}

// sum prints the number of checks, and the skipped ones. It returns a failure if a check failed, and err, which prevented
// checks. If err is only that the peer ended after it had failed a check, sum prints err as a warning.
func (j *peerChecker) sum(err error) error {
	if err != nil {
		j.r.add(report.Case{Name: "the peer is checked", Class: j.endpoint.Dialect, Error: err.Error()})
	}
	j.noteSkipped()
	first := cmp.Or(err, j.probeError)
	if j.r.count.failed > 0 && outOfReach(first, wire.Protocol, wire.Closed) { // the peer is gone, or refuses or breaks new connections
		if err != nil { // reportResult has printed the warning about probeError
			j.run.Console.Warn(err.Error())
		}
		first = nil
	}
	return errors.Join(first, j.r.verdict(j.endpoint.String(), wire.Count(j.r.count.all, "check"), first != nil))
}
