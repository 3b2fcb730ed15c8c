// Package page finds the dialects that are written as pages (rpcx-page(5)):
// those that rpcx brings along, which are the files below pages, and those of
// users.
package page

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/dialect/page/server"
	"rpcx/wire/toml"
	"rpcx/wire/xdg"
)

//go:embed pages/*.toml
var embedded embed.FS

// A Flow is what pages name in flow: the part of a protocol that is written in Go.
type Flow struct {
	Page         string // the protocol's own page, which rpcx brings along under the name of the flow
	Notification string // see codec.Native
	Client       func(c *codec.Codec) codec.Flow
	Server       func(c server.Conn) server.Flow
	Jobs         *dialect.Jobs
	Files        *dialect.Files
}

// A Library finds pages. It is used by one table of dialects.
type Library struct {
	Flows map[string]Flow
	found sync.Map // the pages that were read so far, by the names under which they were asked for: string → func() (dialect.Spec, error)
}

// brought returns the text of the page of that name that rpcx brings along; ok is false if there is none.
func (l *Library) brought(name string) (text []byte, ok bool) {
	if f, ok := l.Flows[name]; ok {
		return []byte(f.Page), true
	}
	text, err := embedded.ReadFile("pages/" + name + ".toml")
	return text, err == nil
}

// Names returns the names of the dialects that rpcx brings along as pages.
func (l *Library) Names() []string {
	names := slices.Collect(maps.Keys(l.Flows))
	entries, _ := embedded.ReadDir("pages")
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	slices.Sort(names)
	return names
}

// OwnNames returns the names of the pages in the user's configuration folder, whether or not they
// are correct.
func (l *Library) OwnNames() (names []string) {
	dir := xdg.Config()
	if dir == "" {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "dialects"))
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".toml"); ok && load.IsName(name) && !slices.Contains(l.Names(), name) {
			names = append(names, name)
		}
	}
	return names
}

// Exists reports whether there is a page of that name or path, whether or not
// it is correct.
func (l *Library) Exists(name string) bool {
	if _, ok := l.brought(name); ok {
		return true
	}
	path := userFile(name)
	if path == "" {
		return false
	}
	_, err := os.Lstat(path)
	return err == nil
}

// Source returns the text of the page with that name or path; nil if there is none.
func (l *Library) Source(name string) []byte {
	if b, ok := l.brought(name); ok {
		return b
	}
	if path := userFile(name); path != "" {
		if b, err := os.ReadFile(path); err == nil {
			return b
		}
	}
	return nil
}

// Find returns the dialect that name stands for: a page that rpcx brings along,
// a page in the user's configuration folder, or, if name is the path of a TOML
// file, that file, whose dialect has the absolute path as its name. ok is false
// if there is no such page; the error is a usage Fault that says what is wrong
// with the page.
func (l *Library) Find(name string) (spec dialect.Spec, ok bool, err error) {
	switch {
	case IsPath(name):
		if name, err = filepath.Abs(name); err != nil {
			return dialect.Spec{}, false, wire.Usagef("%v", err)
		}
	case !load.IsName(name):
		return dialect.Spec{}, false, nil
	}
	make := sync.OnceValues(func() (dialect.Spec, error) { return l.read(name) })
	entry, _ := l.found.LoadOrStore(name, make)
	spec, err = entry.(func() (dialect.Spec, error))()
	return spec, err == nil && spec.Name != "", err
}

// IsPath reports whether the name of a dialect is the path of a page.
func IsPath(name string) bool { return strings.HasSuffix(name, ".toml") }

// userFile returns the path of a page that rpcx does not bring along; "" if
// there is none.
func userFile(name string) string {
	if IsPath(name) {
		return name
	}
	dir := xdg.Config()
	if dir == "" || !load.IsName(name) {
		return ""
	}
	path := filepath.Join(dir, "dialects", name+".toml")
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// read reads the page of that name; it returns a Spec without a name if there
// is none.
func (l *Library) read(name string) (dialect.Spec, error) {
	var p *load.Page
	var err error
	b, ok := l.brought(name)
	switch path := userFile(name); {
	case ok:
		p, err = load.Trusting(name+".toml", b)
	case path == "":
		return dialect.Spec{}, nil
	default:
		p, err = load.File(path)
		if err == nil && !IsPath(name) && p.Name != name {
			err = wire.Usagef("%s: name: expected %q, as the file is called, not %q", path, name, p.Name)
		}
	}
	if err != nil {
		return dialect.Spec{}, err
	}
	spec, err := l.Spec(p)
	if IsPath(name) {
		spec.Name = name
	}
	return spec, err
}

// Spec returns the row of a page in the table of dialects.
func (l *Library) Spec(p *load.Page) (dialect.Spec, error) {
	flow := l.Flows[p.Flow]
	d, err := codec.New(p, codec.Native{Notification: flow.Notification, Open: flow.Client})
	if err != nil {
		return dialect.Spec{}, err
	}
	spec := dialect.Spec{
		Name:          p.Name,
		NewCodec:      d.NewCodec,
		NewServer:     func(b dialect.Backend) dialect.Server { return server.New(d, b, flow.Server) },
		Shape:         func() dialect.Shape { return shape(p, d) },
		JSONRPCMember: p.Base == "jsonrpc" && p.Names == nil,
		Transport: dialect.Transport{
			Framing:      p.Framing,
			Subprotocols: p.Subprotocols,
			Resolve:      codec.Resolve(p),
			Sessions:     d.Sessions(),
			HTTPName:     wire.HTTPName{Header: p.HTTP.Session, Again: p.HTTP.Again},
		},
		Params:     dialect.Params{Typed: p.Typed},
		Validation: dialect.Validation{Rules: rules(p), Probes: probes(p)},
		Bridge:     d.Bridging(),
		Handshake:  dialect.Handshake{Introduces: true, Metadata: asksMeta(p)},
		Discovery:  &dialect.Discovery{Answers: answers(p), Missing: "its page has no [[describe]]"},
		Jobs:       flow.Jobs,
		Files:      flow.Files,
	}
	if n := p.Names; n != nil {
		spec.Transport.Sentinel, spec.Params.Scalar, spec.Params.Extra = n.Sentinel, n.Params != "", n.Extra
	}
	if p.Detect != nil {
		spec.Detection = detection(p.Detect)
	}
	if p.Eval != nil {
		spec.Evaluation = &dialect.Evaluation{}
	}
	return spec, nil
}

// detection returns by what servers of a page are detected.
func detection(d *load.Detect) *dialect.Detection {
	out := &dialect.Detection{First: d.First, Unless: d.Unless, Instead: d.Instead}
	if r := d.Refusal; r != nil {
		out.Refusal = &dialect.Refusal{Method: r.Method, Error: r.Error, Hint: r.Hint}
	}
	if p := d.Probe; p != nil {
		out.Probe = &dialect.Probe{Method: p.Call, Params: p.Params, Session: p.Session, Lists: p.Lists}
		if p.Result != nil {
			out.Probe.Expected = func(result json.RawMessage) bool {
				holds, err := p.Result.Holds(result, (&program.Scope{}).Value)
				return holds && err == nil
			}
		}
	}
	return out
}

// asksMeta reports whether a page's greeting says what the user gives with --meta.
func asksMeta(p *load.Page) bool {
	return slices.ContainsFunc(p.Greet, func(s load.Step) bool { return s.Params != nil && strings.Contains(s.Params.Text(), "$meta") })
}

// rules returns the page's rules, in the form that wire/validate/rules reads.
// Without rules of its own a page has those of its base, unless it names
// members or writes messages differently; then it has none.
func rules(p *load.Page) string {
	set := map[string]any{"page": p.Source}
	if p.Source == "" {
		set["page"] = p.Name
	}
	if p.Base != "none" {
		set["base"] = p.Base
	}
	maps.Copy(set, p.Rules)
	b, err := toml.Encode(set)
	if err != nil || p.Rules == nil && (p.Base == "none" || renamed(p)) {
		return ""
	}
	return string(b)
}

// renamed reports whether a page's messages differ in form from those of its
// base.
func renamed(p *load.Page) bool {
	if p.Names == nil || len(p.Read) > 0 {
		return len(p.Read) > 0
	}
	n := p.Names
	return slices.ContainsFunc([]string{
		n.Request.Method, n.Request.Params, n.Request.ID, n.Response.ID, n.Response.Result, n.Response.Error, n.Event.Method, n.Event.Params,
	}, func(name string) bool { return name != "" })
}

// answers returns the methods that a server answers by the page, without a
// hook.
func answers(p *load.Page) (names []string) {
	for name := range p.Serve.Answers {
		names = append(names, name)
	}
	for name := range p.Serve.Calls {
		names = append(names, name)
	}
	return names
}

// shape returns how a tape reads the page's messages.
func shape(p *load.Page, d *codec.Dialect) dialect.Shape {
	v := jsonrpc.V2
	if p.Base != "jsonrpc" {
		v = jsonrpc.V1
	}
	s := jsonrpc.Shape(v)
	plan := d.Plan()
	if plan == nil {
		return s
	}
	if p.Names != nil && p.Names.Request.Method != "" {
		s.Method = p.Names.Request.Method
	}
	if p.Names != nil && p.Names.Request.ID != "" {
		s.ID = p.Names.Request.ID
	}
	s.MadeUp = append(s.MadeUp, dialect.Places(plan.IDs()...)...)
	s.Unnumbered = plan.Unnumbered()
	if own := plan.Shape(); own != nil && p.Base == "none" { // else it is read as the base's are, whose rules hold
		s.Own, s.Arrays = own, plan.Array()
		s.Error, s.Ended = plan.Templates()
	}
	return s
}

// unsaid is the TOML line that leaves out the probes about which most protocols
// that are pages say nothing.
const unsaid = `except = ["batch", "batch-empty", "batch-invalid", "batch-of-notifications", "params-by-position", "bad-params", "discovery-bad-params"]`

// probes returns what rpcx validate asks a peer: the probes of the base, unless
// the page's messages differ in form from the base's; then none. Probes about
// batches and params by position are left out, since most protocols that are
// pages have neither, and so are those that call METHOD, which a page may wrap.
func probes(p *load.Page) string {
	if p.Base == "none" || renamed(p) {
		return ""
	}
	return fmt.Sprintf("base = %q\n%s", p.Base, unsaid)
}
