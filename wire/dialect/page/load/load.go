package load

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/toml"
	"rpcx/wire/trust"
	"rpcx/wire/userfile"
)

// maxSize bounds the size of a dialect file in bytes.
const maxSize = 1 << 20

// Trusting decodes b, the text of an embedded dialect file, without the checks of Parse: tests have checked embedded
// files. Programs are compiled when they are first used.
func Trusting(file string, b []byte) (*Page, error) {
	p := &Page{}
	if err := toml.Read(b, p); err != nil {
		return nil, toml.Fault(file, err)
	}
	p.Base = cmp.Or(p.Base, "jsonrpc")
	for _, s := range p.Subscribe {
		if s.End != nil && s.End.Method != "" && s.End.Call == "" {
			s.End.Call, s.End.Method = s.End.Method, ""
		}
	}
	return p, nil
}

// Parse returns the dialect file with the text b. file is its name in errors. Errors are usage Faults with the file, the line, the
// member and the expected value. more are further checks, which return a member and what is wrong with it, or "".
func Parse(file string, b []byte, more ...func(*Page) (member, says string)) (*Page, error) {
	var any map[string]any
	if err := toml.Read(b, &any); err != nil { // checks that the text is valid TOML
		return nil, toml.Fault(file, err)
	}
	keys := toml.Keys(b)
	for _, k := range keys {
		if err := checkKey(file, k); err != nil {
			return nil, err
		}
	}
	p, err := Trusting(file, b)
	if err != nil {
		return nil, err
	}
	at := places{file, keys}
	if err := p.check(at); err != nil {
		return p, err
	}
	for _, check := range more {
		if member, says := check(p); says != "" {
			return p, at.fault(member, says)
		}
	}
	return p, nil
}

// File returns the dialect file at path, which it checks as Parse does. It refuses a file that other users can change. Errors are usage
// Faults.
func File(path string, more ...func(*Page) (member, says string)) (*Page, error) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wire.Usagef("there is no dialect file %s", path)
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
		return nil, wire.Usagef("%s is not a file", path)
	case info.Size() > maxSize:
		return nil, wire.Usagef("%s has more than %d bytes: it is not a dialect file", path, maxSize)
	}
	b, err := os.ReadFile(real)
	if err != nil {
		return nil, wire.Usagef("%v", err)
	}
	return Parse(path, userfile.Unmarked(b), more...)
}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]*$`) })

// IsName reports whether name is a valid name for a dialect file.
func IsName(name string) bool { return nameForm().MatchString(name) }

// check returns the first error in a dialect file whose members are known and have the right kind: a missing member, a
// contradiction, or a program that does not compile.
func (p *Page) check(at places) error {
	if err := p.choices(at); err != nil {
		return err
	}
	if err := p.programs(at); err != nil {
		return err
	}
	return p.checkRules(at)
}

// Limit returns the timeout of a step, or 0.
func (s *Step) Limit() time.Duration {
	d, _ := time.ParseDuration(s.Within)
	return d
}

// Step returns g as a step of a handshake.
func (g *Goodbye) Step() *Step {
	return &Step{Call: g.Call, Notify: g.Notify, Params: g.Params, When: g.When}
}

// Step returns e as a step of a handshake.
func (e *EvalPrelude) Step() *Step {
	return &Step{Call: e.Call, Notify: e.Notify, Params: e.Params, When: e.When, Optional: e.Optional, Accept: e.Accept, Keep: e.Keep}
}

// ReadsItems reports whether a [[read]] rule reads items.
func (p *Page) ReadsItems() bool {
	return slices.ContainsFunc(p.Read, func(r Read) bool { return r.Kind == "item" })
}
