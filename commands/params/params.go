// Package params turns the words after METHOD into params: key=text, key:=json
// and their kin, bare JSON, and "-" for stdin (section 2 of the design).
package params

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A Typer knows what a method's params should be.
type Typer interface {
	// Coerce says what a text becomes at a place: path holds property names,
	// and "[]" for one more element of an array.
	Coerce(path []string, text string) (json.RawMessage, error)
	// Check says whether params fit; nil stands for none given.
	Check(params json.RawMessage) error
}

// Options are what Parse works with.
type Options struct {
	Typer    Typer                             // nil: no schema is known
	NoCheck  bool                              // send what does not fit, as strings
	Stdin    io.Reader                         // read once, and only when asked for
	ReadFile func(name string) ([]byte, error) // nil: os.ReadFile
	Funcs    bool                              // the dialect has function values
	Value    bool                              // params are any one value: a single bare argument is it, whatever it is
}

// A Result is what the words meant.
type Result struct {
	Params json.RawMessage   // nil: none were given
	Funcs  map[string]string // JSON pointer inside Params → the name of the hook that answers it; null stands there
}

// An ArgError is the cause of a usage Fault that knows better words: Args in
// place of all those that were given would be taken.
type ArgError struct {
	Arg  string   // the word at fault; "": all of them together
	Args []string // nil: no better words are known
	Err  error    // what is wrong; nil where the Fault says it all
}

// Error says what is wrong.
func (e *ArgError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return "bad parameter " + strconv.Quote(e.Arg)
}

// Unwrap is the cause.
func (e *ArgError) Unwrap() error { return e.Err }

// IsKeyOp says whether a word is KEY OP VALUE, not bare.
func IsKeyOp(arg string) bool {
	_, op, _ := splitKey(arg)
	return op != ""
}

// WantStdin says whether some word reads stdin.
func WantStdin(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		_, op, value := splitKey(arg)
		return arg == "-" || value == "-" && (op == "@=" || op == ":@=")
	})
}

// IsTyped says whether what a word becomes depends on a schema: key=text.
func IsTyped(arg string) bool {
	_, op, _ := splitKey(arg)
	return op == "="
}

// operators, of which none begins with another that stands before it.
var operators = []string{":=", "@=", ":@=", "@on=", "="}

// splitKey takes KEY OP VALUE apart; op is "" where arg is none. It is
// ^[A-Za-z_$][^=:@{}"\s]*(:=|@=|:@=|@on=|=) without the cost of compiling that.
func splitKey(arg string) (key, op, value string) {
	if arg == "" || !strings.ContainsRune("_$", rune(arg[0])) && (arg[0]|0x20 < 'a' || arg[0]|0x20 > 'z') {
		return "", "", ""
	}
	end := strings.IndexAny(arg, "=:@{}\"\t\n\f\r ")
	if end < 0 {
		return "", "", ""
	}
	for _, op := range operators {
		if value, ok := strings.CutPrefix(arg[end:], op); ok {
			return arg[:end], op, value
		}
	}
	return "", "", ""
}

// Parse reads the words after METHOD as call and subscribe do. Errors are usage
// Faults that name the word at fault; where better words are known the cause is
// an *ArgError that has them.
func Parse(args []string, o Options) (Result, error) {
	p := &parser{args: args, o: o}
	if err := p.readBare(); err != nil {
		return Result{}, err
	}
	for i, arg := range args {
		if IsKeyOp(arg) {
			if err := p.readKey(i); err != nil {
				return Result{}, err
			}
		}
	}
	r := Result{Params: p.whole, Funcs: p.funcs}
	if p.root != nil {
		r.Params = p.root.append(nil)
	}
	err := p.check(r)
	for p.reread(&r, err) {
		err = p.check(r)
	}
	return r, err
}

// A parser is one run of Parse.
type parser struct {
	args  []string
	o     Options
	whole json.RawMessage // params that no key changes; nil: none
	root  *node           // params that keys build or change; nil: none
	funcs map[string]string
	stdin string   // the word that has read stdin; "": none has
	texts []string // where the values of key=text are
}

// readBare reads the words that are no keys.
func (p *parser) readBare() error {
	var bare []int
	for i, arg := range p.args {
		if !IsKeyOp(arg) {
			bare = append(bare, i)
		}
	}
	if len(bare) == 0 {
		return nil
	}
	if len(bare) > 1 && slices.Contains(p.args, "-") {
		return fault("- reads the params whole from stdin: no other bare argument can stand beside it", "-", "")
	}
	values := make([]json.RawMessage, len(bare))
	for n, i := range bare {
		v, err := p.bare(i)
		if err != nil {
			return err
		}
		values[n] = v
	}
	one, keys := scan.Type(values[0]), len(p.args) > len(bare)
	switch {
	case len(bare) == 1 && one == 'o' && keys:
		p.root = fromJSON(values[0])
	case keys:
		first := p.args[bare[0]]
		return fault(fmt.Sprintf("key=value is merged into an object, and %s is none", clip(first)), first,
			"give all params by name, or all by position")
	case len(bare) == 1 && (one == 'o' || one == 'a' || p.o.Value):
		p.whole = values[0]
	default:
		p.whole = array(values)
	}
	return nil
}

// bare reads one bare word.
func (p *parser) bare(i int) (json.RawMessage, error) {
	arg := p.args[i]
	if arg == "-" {
		b, err := p.readStdin("-")
		if err != nil {
			return nil, err
		}
		v, err := oneValue(b)
		if err != nil {
			return nil, fault("params from stdin: "+err.Error(), "-", "")
		}
		if t := scan.Type(v); t != 'o' && t != 'a' && !p.o.Value {
			return nil, fault("params from stdin must be an object or an array", "-", "")
		}
		return v, nil
	}
	v, err := oneValue([]byte(arg))
	if err == nil {
		return v, nil
	}
	if !utf8.ValidString(arg) {
		return nil, fault("parameter "+clip(arg)+" is not UTF-8", arg, "")
	}
	quoted := string(scan.AppendQuoted(nil, arg))
	hint := "write " + wire.Quote(quoted) + " for text"
	if name, ok := strayKey(arg); ok {
		hint += fmt.Sprintf(", or %s if %s is a key", wire.Quote(`{`+string(scan.AppendQuoted(nil, name))+`:…}`), name)
	}
	f := fault(fmt.Sprintf("parameter %s is neither key=value nor JSON (%v)", clip(arg), err), arg, hint)
	f.Err = &ArgError{Arg: arg, Args: p.mended(), Err: err}
	return nil, f
}

// strayKey finds the name in what was perhaps meant as key=value, but cannot be.
func strayKey(arg string) (string, bool) {
	name, _, ok := strings.Cut(arg, "=")
	return name, ok && name != "" && wire.Quote(name) == name
}

// mended is the words with text wherever JSON was expected and none stands; nil
// where that would not be taken either.
func (p *parser) mended() []string {
	args := slices.Clone(p.args)
	for i, arg := range args {
		key, op, value := splitKey(arg)
		text := value
		if op == "" {
			text = arg
		}
		if !utf8.ValidString(arg) {
			return nil
		}
		if _, err := oneValue([]byte(text)); err == nil {
			continue
		}
		switch {
		case op == ":=":
			args[i] = key + "=" + value
		case op == "" && arg != "-":
			args[i] = string(scan.AppendQuoted(nil, arg))
		}
	}
	if slices.Equal(args, p.args) {
		return nil
	}
	if _, err := Parse(args, Options{ReadFile: p.o.ReadFile, Funcs: p.o.Funcs}); err != nil {
		return nil
	}
	return args
}

// Names says whether some KEY OP VALUE among args gives the member name, or
// something inside it.
func Names(args []string, name string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		key, op, _ := splitKey(arg)
		if op == "" {
			return false
		}
		path, err := parsePath(key)
		return err == nil && len(path) > 0 && names(path)[0] == name
	})
}
