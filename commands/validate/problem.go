package validate

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/validate"
)

// place describes the place of a problem in words.
func place(p *validate.Problem) string {
	var words []string
	if p.Line > 0 {
		words = append(words, strings.TrimSpace(fmt.Sprintf("line %d %s", p.Line, p.Dir)))
	}
	if p.Number > 0 {
		words = append(words, fmt.Sprintf("%s %d", p.Dir, p.Number))
	}
	if p.Method != "" {
		words = append(words, p.Method)
	}
	switch at := string(p.Pointer); {
	case at == "" || p.Pointer.IsZero():
	case p.In == "old":
		words = append(words, at+" (of the older catalog)")
	default:
		words = append(words, at)
	}
	return strings.Join(words, ", ")
}

// sentence describes a problem in words, without its source.
func sentence(p *validate.Problem) string {
	s := p.Message
	if place := place(p); place != "" {
		s = place + ": " + s
	}
	why := p.Rule
	if p.Section != "" {
		why += ", " + p.Section
	}
	if p.Level != "" {
		why = string(p.Level) + ": " + why
	}
	s += " (" + why + ")"
	for _, more := range [][2]string{{"expected", p.Expected}, {"sent", p.Sent}, {"received", p.Got}} {
		if more[1] != "" {
			s += "; " + more[0] + ": " + more[1]
		}
	}
	return format.CleanLine(s)
}

// An outcome counts and prints problems, and writes the report.
type outcome struct {
	run    *env.Env
	target report.Target
	strict bool // a broken SHOULD makes the check fail
	suites []report.Suite
	count  struct{ all, failed, warned, skipped, broken int } // the number of checks of a live peer; broken counts the checks that rpcx could not make
	whys   []string                                           // the reasons why checks were skipped
	names  map[string][]string                                // the skipped checks, by reason
}

// suite begins a group of cases in the report.
func (r *outcome) suite(name string) {
	r.suites = append(r.suites, report.Suite{Name: name, Started: time.Now()})
}

// add adds a case to the latest group.
func (r *outcome) add(c report.Case) {
	if r.target.Wanted() {
		s := &r.suites[len(r.suites)-1]
		s.Cases = append(s.Cases, c)
	}
}

// warns reports whether breaking a rule of that level is only a warning.
func (r *outcome) warns(l validate.Level) bool { return l == validate.Should && !r.strict }

// print writes a problem to stdout as a line of JSON, or in words on a terminal. It prints nothing if the report goes
// to stdout.
func (r *outcome) print(p *validate.Problem) error {
	if r.target.Stdout() {
		return nil
	}
	text := string(scan.JSON(p))
	if r.run.Stdout.Terminal {
		text = p.Source + ": " + sentence(p)
	}
	return cmdline.Print(os.Stdout, text+"\n")
}

// into adds a problem to a case of the report, as a failure or, if it is a warning, as output of the case.
func (r *outcome) into(c *report.Case, p *validate.Problem) {
	switch {
	case !r.target.Wanted():
	case p.Warning:
		c.Stdout += sentence(p) + "\n"
	default:
		c.Failures = append(c.Failures, report.Failure{Kind: p.Rule, Message: sentence(p)})
	}
}

// check reports the problems of a check, which is a case of the report. Without problems, the check has passed. Either
// all of them are warnings, or all are failures.
func (r *outcome) check(c report.Case, all ...validate.Problem) error {
	if c.Error != "" {
		r.count.broken++
		r.add(c)
		return nil
	}
	r.count.all++
	for i := range all {
		r.into(&c, &all[i])
		if err := r.print(&all[i]); err != nil {
			return err
		}
	}
	switch {
	case len(all) == 0:
	case all[0].Warning:
		r.count.warned++
	default:
		r.count.failed++
	}
	r.add(c)
	return nil
}

// skip reports a check as skipped.
func (r *outcome) skip(c report.Case, why string) {
	r.count.skipped++
	if r.names[why] == nil {
		r.whys = append(r.whys, why)
	}
	r.names[why] = append(r.names[why], c.Name)
	c.Skipped = why
	r.add(c)
}

// verdict prints the result of the checks of a peer, with the counts, if all checks have passed. Otherwise verdict
// returns the failure. No checks at all are also a failure. early is true if an error, which the caller reports,
// prevented some checks.
func (r *outcome) verdict(peer, checks string, early bool) error {
	text := peer + ": " + checks
	if r.count.warned > 0 {
		text += ", " + wire.Count(r.count.warned, "warning")
	}
	if r.count.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", r.count.skipped)
	}
	if r.count.broken > 0 {
		text += fmt.Sprintf(", %d not possible", r.count.broken)
	}
	switch {
	case r.count.failed > 0:
		text = fmt.Sprintf("%s: %d failed", text, r.count.failed)
		if early { // the caller's error takes precedence
			r.run.Console.Note(text)
		}
		return wire.NewFault(wire.Expectation, text, nil)
	case early && r.count.all > 0:
		r.run.Console.Note(text)
	case early:
	case r.count.all == 0:
		return wire.NewFault(wire.Expectation, peer+": nothing checked", nil)
	default:
		r.run.Console.Note(text + ": passed")
	}
	return nil
}

// write writes the report. It returns verdict, joined with the error of writing, if any.
func (r *outcome) write(verdict error) error {
	return errors.Join(verdict, r.target.Write(os.Stdout, r.suites))
}
