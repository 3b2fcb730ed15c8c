// Package params turns the words after METHOD into params: key=text, key:=json
// and their kin, bare JSON, and "-" for stdin (section 2 of the design).
package params

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	return r, p.check(r)
}

// A parser is one run of Parse.
type parser struct {
	args  []string
	o     Options
	whole json.RawMessage // params that no key changes; nil: none
	root  *node           // params that keys build or change; nil: none
	funcs map[string]string
	stdin string // the word that has read stdin; "": none has
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
	case len(bare) == 1 && (one == 'o' || one == 'a'):
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
		if t := scan.Type(v); t != 'o' && t != 'a' {
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
	hint := "write " + shell(quoted) + " for text"
	if name, ok := strayKey(arg); ok {
		hint += fmt.Sprintf(", or %s if %s is a key", shell(`{`+string(scan.AppendQuoted(nil, name))+`:…}`), name)
	}
	f := fault(fmt.Sprintf("parameter %s is neither key=value nor JSON (%v)", clip(arg), err), arg, hint)
	f.Err = &ArgError{Arg: arg, Args: p.replaced(i, quoted), Err: err}
	return nil, f
}

// strayKey finds the name in what was perhaps meant as key=value, but cannot be.
func strayKey(arg string) (string, bool) {
	name, _, ok := strings.Cut(arg, "=")
	return name, ok && name != "" && shell(name) == name
}

// replaced is the words with another one at i.
func (p *parser) replaced(i int, arg string) []string {
	args := slices.Clone(p.args)
	args[i] = arg
	return args
}

// readKey reads one KEY OP VALUE.
func (p *parser) readKey(i int) error {
	arg := p.args[i]
	key, op, value := splitKey(arg)
	if !utf8.ValidString(key) {
		return fault("parameter "+clip(arg)+" is not UTF-8", arg, "")
	}
	path, err := parsePath(key)
	if err != nil {
		return fault("parameter "+clip(arg)+": "+err.Error(), arg, "")
	}
	v, err := p.value(i, path, key, op, value)
	if err != nil {
		return err
	}
	if p.root == nil {
		p.root = &node{kind: 'o'}
	}
	pointer, err := p.root.set(path, v, arg)
	if err != nil {
		return fault("parameter "+clip(arg)+": "+err.Error(), arg, "give each key once")
	}
	if op == "@on=" {
		if p.funcs == nil {
			p.funcs = map[string]string{}
		}
		p.funcs[pointer] = value
	}
	return nil
}

// value is what KEY OP VALUE sets.
func (p *parser) value(i int, path []step, key, op, value string) (json.RawMessage, error) {
	arg := p.args[i]
	switch op {
	case ":=":
		v, err := oneValue([]byte(value))
		if err == nil {
			return v, nil
		}
		f := fault(fmt.Sprintf("parameter %s: %s is not JSON (%v)", clip(arg), clip(value), err), arg,
			"write "+shell(key+"="+value)+" for text")
		f.Err = &ArgError{Arg: arg, Args: p.replaced(i, key+"="+value), Err: err}
		return nil, f
	case "@=", ":@=":
		b, err := p.readFile(arg, value)
		if err != nil {
			return nil, err
		}
		if op == "@=" {
			return textOf(arg, string(b))
		}
		v, err := oneValue(b)
		if err != nil {
			return nil, fault(fmt.Sprintf("parameter %s: %s is not JSON: %v", clip(arg), source(value), err), arg, "")
		}
		return v, nil
	case "@on=":
		switch {
		case !p.o.Funcs:
			return nil, fault("parameter "+clip(arg)+": this dialect has no function values", arg, "")
		case value == "":
			return nil, fault("parameter "+clip(arg)+" names no hook", arg, "write "+key+"@on=NAME with --on NAME=…")
		}
		return json.RawMessage("null"), nil
	}
	return p.typed(i, path, value)
}

// typed is the value of key=text.
func (p *parser) typed(i int, path []step, value string) (json.RawMessage, error) {
	asText, err := textOf(p.args[i], value)
	if err != nil || p.o.Typer == nil {
		return asText, err
	}
	v, err := p.o.Typer.Coerce(names(path), value)
	switch {
	case err == nil:
		return v, nil
	case p.o.NoCheck:
		return asText, nil
	}
	return nil, misfit(err, p.args[i])
}

// textOf is text as a JSON string.
func textOf(arg, text string) (json.RawMessage, error) {
	if !utf8.ValidString(text) {
		return nil, fault("parameter "+clip(arg)+" is not UTF-8", arg, "")
	}
	return scan.AppendQuoted(nil, text), nil
}

func (p *parser) readFile(arg, name string) ([]byte, error) {
	switch name {
	case "":
		return nil, fault("parameter "+clip(arg)+" names no file", arg, "")
	case "-":
		return p.readStdin(arg)
	}
	read := p.o.ReadFile
	if read == nil {
		read = os.ReadFile
	}
	b, err := read(name)
	if err != nil {
		return nil, fault("parameter "+clip(arg)+": "+err.Error(), arg, "")
	}
	return b, nil
}

func (p *parser) readStdin(arg string) ([]byte, error) {
	if p.stdin != "" {
		return nil, fault(fmt.Sprintf("parameter %s: stdin was already read for %s", clip(arg), clip(p.stdin)), arg, "")
	}
	p.stdin = arg
	if p.o.Stdin == nil {
		return nil, nil
	}
	b, err := io.ReadAll(p.o.Stdin)
	if err != nil {
		return nil, fault("reading stdin: "+err.Error(), arg, "")
	}
	return b, nil
}
