package commands

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/finding"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// probeTimeout bounds --probe without --timeout.
const probeTimeout = 10 * time.Second

// probeAll detects the peer's protocol with trial messages, reports them, and returns the catalog of the peer.
func (s *search) probeAll(ctx context.Context) (*catalog.Catalog, error) {
	limit := s.Time.Timeout.Or(probeTimeout)
	cl := env.NewDeadline(ctx, limit, 0)
	defer cl.Stop()
	p, err := finding.New(cl.Ctx, s.run, s.endpoint, &s.Client)
	if err != nil {
		return nil, err
	}
	p.Method = s.name
	trying, cancel := context.WithTimeout(cl.Ctx, limit*3/4) // the rest is for the catalog
	defer cancel()
	r := p.Run(trying)
	for _, t := range r.Tried {
		s.note(t)
	}
	if err := env.Cause(cl.Ctx, cl.Ctx.Err()); err != nil {
		return nil, err
	}
	tried, _ := trying.Deadline()
	end := tried.Add(limit - limit*3/4)
	c := r.Catalog
	if r.Endpoint == nil && r.Fault == nil || r.Weak && c == nil {
		c = s.askDialectFiles(cl.Ctx, r, end)
	}
	if r.Endpoint == nil {
		return nil, s.unknown(r)
	}
	return s.probed(cl.Ctx, p, r, c, end)
}

// askDialectFiles requests the catalog in each of the user's own dialects that has no probe. It returns the catalog of
// the first dialect with methods, and stores the endpoint.
func (s *search) askDialectFiles(ctx context.Context, r *finding.Report, end time.Time) *catalog.Catalog {
	for _, name := range all.OwnNames() {
		spec := all.Named(name)
		if spec.Name == "" || spec.Detection != nil && spec.Detection.Probe != nil {
			continue
		}
		if time.Until(end) < time.Second || len(s.endpoint.Address.Command) > 0 && len(r.Tried) > maxStarts {
			return nil
		}
		e := s.endpoint
		e.Dialect, e.Framing = name, ""
		t := &finding.Try{Endpoint: e.String(), Sent: []string{name}, Outcome: name}
		c, err := s.askUntil(ctx, e, s.Client, time.Now().Add(time.Second))
		if err != nil || len(c.Methods) == 0 {
			t.Outcome = "not recognised"
		}
		r.Tried = append(r.Tried, t)
		s.note(t)
		if t.Outcome == name {
			r.Endpoint, r.Weak = &e, false
			return c
		}
	}
	return nil
}

// note prints an attempt on stderr. With JSON output it prints nothing, because the report contains the attempts.
func (s *search) note(t *finding.Try) {
	if s.forPeople(s.run) {
		s.run.Console.Note(t.Line())
	}
}

// maxStarts bounds how many times --probe starts a command.
const maxStarts = 5

// askUntil requests the catalog of the peer of e, until end.
func (s *search) askUntil(ctx context.Context, e endpoint.Endpoint, o options.Client, end time.Time) (*catalog.Catalog, error) {
	o.Time.Timeout = cmdline.Duration(max(time.Until(end), 100*time.Millisecond))
	return s.ask(ctx, e, o)
}

// unknown prints the attempts, unless note has printed them, and returns the error for an unknown peer.
func (s *search) unknown(r *finding.Report) error {
	if !s.forPeople(s.run) {
		var o scan.Object
		o.Add("probe", scan.JSON(report{Tried: r.Tried}))
		if err := cmdline.Print(os.Stdout, string(o.End())+"\n"); err != nil {
			return err
		}
	}
	if r.Fault != nil {
		return r.Fault
	}
	const page = "a dialect file can describe its protocol: rpcx help dialect-file, rpcx-dialect-file(5)"
	if first := r.FirstBytes(); first != "" {
		return &wire.Fault{Kind: wire.Protocol, Message: "the peer's protocol is not recognised; its first bytes are: " + first, Hint: page}
	}
	return &wire.Fault{Kind: wire.Timeout, Message: fmt.Sprintf("the peer sent no message in %d attempts", len(r.Tried)), Hint: page}
}

// A report is the result of --probe in JSON form.
type report struct {
	Endpoint string         `json:"endpoint,omitempty"`
	Header   string         `json:"header,omitempty"` // the value of --header that the peer requires
	More     []string       `json:"more,omitempty"`   // methods that the peer offers only to clients with certain hooks
	Tried    []*finding.Try `json:"tried"`
}

// probed returns the catalog of a detected peer and stores the report.
func (s *search) probed(ctx context.Context, p *finding.Prober, r *finding.Report, c *catalog.Catalog, end time.Time) (*catalog.Catalog, error) {
	e := *r.Endpoint
	at := e.Over(p.Typed)
	if e.Profile != nil {
		at = e.String()
	}
	out, with := report{Endpoint: at, Header: r.Header, Tried: r.Tried}, ""
	if r.Header != "" {
		with = " with --header '" + r.Header + "'"
		s.Client.Conn.AddHeader(r.Header)
	}
	s.run.Console.Note("the endpoint to use is " + at + with)
	e = *cmp.Or(r.At, r.Endpoint)
	if c == nil {
		var err error
		if c, err = s.askUntil(ctx, e, s.Client, end); err != nil {
			why := cmdline.ToFault(err).Message
			s.run.Console.Note("there is no catalog: " + why)
			c = &catalog.Catalog{Catalog: 1, Dialect: e.Dialect, Methods: []catalog.Method{}}
			c.SetPartial(why)
		} else if out.More = s.more(ctx, e, c, end); len(out.More) > 0 {
			s.run.Console.Note("the peer offers more methods to clients with the hooks " + strings.Join(probeHooks(e), ", ") + " (--on NAME=ANSWER): " + format.CleanLine(strings.Join(out.More, ", ")))
		}
	}
	if e.Profile == nil {
		s.run.Line.Args[0] = at
	}
	s.describeOptions.probed = scan.JSON(out)
	return c, nil
}

// probeHooks lists the hooks with which clients of e's dialect may get more methods.
func probeHooks(e endpoint.Endpoint) []string {
	if d := e.Spec().Detection; d != nil && d.Probe != nil {
		return d.Probe.Hooks
	}
	return nil
}

// more returns the methods that the peer offers only to clients with the hooks of its dialect.
func (s *search) more(ctx context.Context, e endpoint.Endpoint, c *catalog.Catalog, end time.Time) (names []string) {
	hooks := probeHooks(e)
	if len(hooks) == 0 || len(s.Hooks.On)+len(s.Hooks.Files) > 0 || time.Until(end) < time.Second {
		return nil
	}
	with := s.Client
	with.Hooks.On = wire.Map(hooks, func(name string) string { return name + "=deny" })
	all, err := s.askUntil(ctx, e, with, end)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all.Names(), func(name string) bool { return c.Method(name) != nil })
}
