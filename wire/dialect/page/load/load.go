package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/toml"
	"rpcx/wire/trust"
)

// maxSize bounds the file of a page, in bytes.
const maxSize = 1 << 20

// Trusting returns the page with the text b of file, one that rpcx brings along
// and that the tests have checked. Its programs are compiled when they first
// run.
func Trusting(file string, b []byte) (*Page, error) {
	p := &Page{}
	if err := toml.Read(b, p); err != nil {
		return nil, syntax(file, err)
	}
	p.defaults()
	return p, nil
}

// Parse returns the page with the text b of file. The error is a usage Fault
// that names the file, the line, the member and what was expected there.
func Parse(file string, b []byte) (*Page, error) {
	var any map[string]any
	if err := toml.Read(b, &any); err != nil { // before all else: is it TOML?
		return nil, syntax(file, err)
	}
	if err := checkKeys(file, toml.Keys(b)); err != nil {
		return nil, err
	}
	p, err := Trusting(file, b)
	if err != nil {
		return nil, err
	}
	return p, p.check(file, toml.Keys(b))
}

// syntax returns the usage Fault for an error of reading file as TOML.
func syntax(file string, err error) error {
	var at *toml.Error
	if errors.As(err, &at) && at.Line > 0 {
		return wire.Usagef("%s:%d: %s", file, at.Line, at.Text)
	}
	return wire.Usagef("%s: %v", file, err)
}

// File returns the page in the file at path. It refuses a file that other users
// can write. Errors are usage Faults.
func File(path string) (*Page, error) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wire.Usagef("there is no page %s", path)
	case err != nil:
		return nil, wire.Usagef("%v", err)
	}
	for _, at := range []string{filepath.Dir(real), real} {
		if err := trust.Check("dialect", at); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return nil, wire.Usagef("%v", err)
	case !info.Mode().IsRegular():
		return nil, wire.Usagef("%s is no file", path)
	case info.Size() > maxSize:
		return nil, wire.Usagef("%s has more than %d bytes, and is no page", path, maxSize)
	}
	b, err := os.ReadFile(real)
	if err != nil {
		return nil, wire.Usagef("%v", err)
	}
	return Parse(path, b)
}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]*$`) })

// IsName reports whether name has the form of a page's name.
func IsName(name string) bool { return nameForm().MatchString(name) }

func (p *Page) defaults() {
	if p.Base == "" {
		p.Base = "jsonrpc"
	}
	for _, s := range p.Subscribe {
		if s.End != nil && s.End.Method != "" && s.End.Call == "" {
			s.End.Call, s.End.Method = s.End.Method, ""
		}
	}
}

// check returns the first error of a page whose members are all known and of
// the right kind: something is missing, does not go together, or does not
// compile.
func (p *Page) check(file string, keys []toml.Key) error {
	at := places{file, keys}
	if !IsName(p.Name) {
		return at.fault("name", fmt.Sprintf("%q is no name of a dialect: expected [a-z][a-z0-9-]*, such as name = \"chat\"", p.Name))
	}
	if p.Base == "none" && p.Names == nil && len(p.Read) == 0 {
		return at.fault("base", "a page of base none needs [names] or [[read]]: what its messages look like")
	}
	if err := p.choices(at); err != nil {
		return err
	}
	for path, prog := range Programs(p) {
		if err := prog.Check(); err != nil {
			return at.fault(path, err.Error())
		}
		prog.StandsAt(file + ": " + path)
	}
	for i, s := range p.Greet {
		if err := s.check(at, fmt.Sprintf("greet[%d]", i)); err != nil {
			return err
		}
	}
	if p.Eval != nil {
		for i, s := range p.Eval.First {
			if err := said(at, fmt.Sprintf("eval.first[%d]", i), s.Call, s.Notify, len(s.Keep) > 0 || len(s.Accept) > 0); err != nil {
				return err
			}
		}
	}
	for i, s := range p.Leave {
		if err := said(at, fmt.Sprintf("leave[%d]", i), s.Call, s.Notify, false); err != nil {
			return err
		}
	}
	if err := p.checkNames(at); err != nil {
		return err
	}
	return p.checkRules(at)
}

// Limit returns how long an await takes at most; 0 if the page does not say.
func (s *Step) Limit() time.Duration {
	d, _ := time.ParseDuration(s.Within)
	return d
}

// said returns the error of a step that is not one call or one notification; reads says that the step reads
// its answer.
func said(at places, path, call, notify string, reads bool) error {
	switch {
	case (call == "") == (notify == ""):
		return at.fault(path, "expected exactly one of call and notify")
	case notify != "" && reads:
		return at.fault(path, "a notification has no answer: keep and accept go with call")
	}
	return nil
}

func (s *Step) check(at places, path string) error {
	given := 0
	for _, has := range []bool{s.Call != "", s.Notify != "", s.Await != nil} {
		if has {
			given++
		}
	}
	switch {
	case given != 1:
		return at.fault(path, "expected exactly one of call, notify and await")
	case s.Within != "" && (s.Await == nil || s.Limit() <= 0):
		return at.fault(path+".within", "expected a duration, such as 500ms, beside await")
	case s.Call == "" && s.Wait != nil:
		return at.fault(path+".wait", "only a call has an answer to wait for")
	case len(s.For) > 0 && (s.Await != nil || s.Wait != nil):
		return at.fault(path+".for", "a step for an operation is a call, which is answered before it, or a notification: leave await and wait out")
	case s.Notify != "" && (len(s.Keep) > 0 || len(s.Accept) > 0):
		return at.fault(path, "a notification has no answer: keep and accept go with call and await")
	}
	return nil
}

// ReadsItems reports whether a message can be an item of the call whose id it has.
func (p *Page) ReadsItems() bool {
	return slices.ContainsFunc(p.Read, func(r Read) bool { return r.Kind == "item" })
}

// article returns the rule's kind with its article.
func (r *Read) article() string {
	if r.Kind == "item" {
		return "an item"
	}
	return "a " + r.Kind
}

// ownHeaders are the headers that a page must not set: those that route a
// request or describe its body, and those that carry the user's credentials.
var ownHeaders = []string{
	"host", "authorization", "cookie", "origin", "accept", "content-type", "content-length", "content-encoding",
	"transfer-encoding", "connection", "upgrade", "proxy-authorization", "te", "trailer", "last-event-id",
}

// mayHave reports whether a page may set the header of that name.
func mayHave(name string) bool {
	return !slices.Contains(ownHeaders, strings.ToLower(name)) && !strings.ContainsAny(name, " \t\r\n:")
}

func (p *Page) checkRules(at places) error {
	for name := range p.HTTP.Headers {
		if !mayHave(name) {
			return at.fault("http.headers."+name, "a page does not set this header")
		}
	}
	switch again := p.HTTP.Again; {
	case p.HTTP.Session != "" && !mayHave(p.HTTP.Session):
		return at.fault("http.session", "a page does not set this header")
	case again != 0 && p.HTTP.Session == "":
		return at.fault("http.again", "expected session beside it: the header that such an answer brings")
	case again != 0 && (again < 400 || again > 499):
		return at.fault("http.again", "expected a status from 400 to 499, such as 409")
	}
	for path := range p.Serve.Get {
		if !strings.HasPrefix(path, "/") {
			return at.fault("serve.get."+path, "expected a path, such as \"/json/version\"")
		}
	}
	for i, r := range p.Read {
		path := fmt.Sprintf("read[%d]", i)
		switch {
		case r.Kind == "":
			return at.fault(path, "expected a kind: response, request, notification, item or cancel")
		case r.ID == nil && r.Kind != "notification":
			return at.fault(path, r.article()+" needs an id")
		case r.Method == nil && (r.Kind == "request" || r.Kind == "notification"):
			return at.fault(path, r.article()+" needs a method")
		case r.Final != nil && r.Kind != "item" && r.Kind != "response":
			return at.fault(path+".final", "only an item and a response can be the last")
		}
	}
	for i, d := range p.Describe {
		if d.Methods == nil && d.Info == nil {
			return at.fault(fmt.Sprintf("describe[%d]", i), "expected methods: a program that makes methods of the answer, or info: one that makes of it who the peer is")
		}
	}
	if c := p.Cancel; c != nil && (c.Notify == "") == (c.Call == "") {
		return at.fault("cancel", "expected exactly one of notify and call")
	}
	if c := p.Cancel; c != nil {
		switch c.Answer.(type) {
		case nil, int64:
		default:
			if c.Answer != "none" {
				return at.fault("cancel.answer", "expected \"none\" or the code of an error, such as -32800")
			}
		}
	}
	if e := p.Eval; e != nil && (e.Call == "" || e.Params == nil) {
		return at.fault("eval", "expected call and params: what evaluates $code")
	}
	for name, s := range p.Subscribe {
		if s.Item.Method == "" && !p.ReadsItems() {
			return at.fault("subscribe."+name, "expected item.method: which notifications are items, or [[read]] of kind item")
		}
	}
	for name, s := range p.Subscribe {
		if e := s.End; e != nil && (e.Call == "") == (e.Notify == "") || e != nil && e.Method != "" {
			return at.fault("subscribe."+name+".end", "expected exactly one of call and notify")
		}
	}
	for i, a := range p.After {
		if a.Event == "" || a.Call == "" {
			return at.fault(fmt.Sprintf("after[%d]", i), "expected event and call: what is called after which notification")
		}
	}
	for name, c := range p.Serve.Calls {
		if c.Method == nil {
			return at.fault("serve.calls."+name, "expected method: a program that finds the hook's name in the params")
		}
	}
	return nil
}
