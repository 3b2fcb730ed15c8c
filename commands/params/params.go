// Package params converts the words after METHOD to params. A word is key=text, key:=json or has another operator, is
// bare JSON, or is "-" for stdin (rpcx-params(7)).
package params

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
	"rpcx/wire/userfile"
)

// Options configure Parse. The zero value uses no types and no stdin.
type Options struct {
	Typer    *Typer                            // nil without a known schema
	NoCheck  bool                              // send a value that does not match its schema as a string
	Stdin    io.Reader                         // read at most once, and only if a word requires it
	ReadFile func(name string) ([]byte, error) // os.ReadFile by default
	Funcs    bool                              // the dialect has function values (key@on=NAME)
	Value    bool                              // params may be any JSON value: a single bare argument is the whole value
}

// A Result contains the params that the words define.
type Result struct {
	Params json.RawMessage   // nil if missing
	Funcs  map[string]string // the names of hooks by JSON pointers into Params, where the values are null

	Undescribed []schema.Undescribed // members that the schema allows but does not describe
}

// An ArgError is the cause of a usage Fault about the words after METHOD. If Parse knows a correction, Args replaces
// all given words.
type ArgError struct {
	Arg  string   // the wrong word, or "" if the error concerns all words together
	Args []string // nil without a known correction
	Err  error    // the reason, or nil if the Fault contains the reason
}

// Error returns the reason.
func (e *ArgError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return "bad parameter " + strconv.Quote(e.Arg)
}

// Unwrap returns the cause.
func (e *ArgError) Unwrap() error { return e.Err }

// IsKeyOp reports whether a word is KEY OP VALUE. Other words are bare.
func IsKeyOp(arg string) bool {
	_, op, _ := splitKey(arg)
	return op != ""
}

// WantStdin reports whether a word reads stdin.
func WantStdin(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		_, op, value := splitKey(arg)
		return arg == "-" || value == "-" && (op == "@=" || op == ":@=")
	})
}

// ReadsFiles reports whether a word refers to a file, to stdin or to a local function.
func ReadsFiles(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		_, op, _ := splitKey(arg)
		return arg == "-" || op == "@=" || op == ":@=" || op == "@on="
	})
}

// IsTyped reports whether a word is key=text, whose value depends on a schema.
func IsTyped(arg string) bool {
	_, op, _ := splitKey(arg)
	return op == "="
}

// operators are in matching order: none begins with an earlier one.
var operators = []string{":=", "@=", ":@=", "@on=", "="}

// splitKey splits KEY OP VALUE. A bare word is the value; its key and op are "". splitKey matches ^[A-Za-z_$][^=:@{}"\s]*(:=|@=|:@=|@on=|=)
// without compiling a regular expression.
func splitKey(arg string) (key, op, value string) {
	if arg == "" || !strings.ContainsRune("_$", rune(arg[0])) && (arg[0]|0x20 < 'a' || arg[0]|0x20 > 'z') {
		return "", "", arg
	}
	end := strings.IndexAny(arg, "=:@{}\"\t\n\f\r ")
	if end < 0 {
		return "", "", arg
	}
	for _, op := range operators {
		if value, ok := strings.CutPrefix(arg[end:], op); ok {
			return arg[:end], op, value
		}
	}
	return "", "", arg
}

// Parse parses the words after METHOD of call and subscribe ("Parameters" in the manual). Errors are usage Faults that
// name the wrong word, with an *ArgError as their cause, or the error of the context.
func Parse(ctx context.Context, args []string, o Options) (Result, error) {
	p := &parser{ctx: ctx, args: args, o: o}
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
	r := Result{Params: p.params.json(), Funcs: p.funcs}
	err := p.check(r)
	for p.reread(&r, err) {
		err = p.check(r)
	}
	if err == nil && o.Typer != nil && !o.NoCheck {
		r.Undescribed = o.Typer.Undescribed(r.Params)
	}
	return r, err
}

// A parser is the state of one run of Parse.
type parser struct {
	ctx    context.Context
	args   []string
	o      Options
	params node // without a value if they are missing
	funcs  map[string]string
	stdin  string   // the word that has read stdin, or ""
	texts  []string // the places of key=text values
}

// readBare reads the words other than KEY OP VALUE.
func (p *parser) readBare() error {
	bare := p.bareWords()
	if len(bare) == 0 {
		return nil
	}
	if len(bare) > 1 && slices.Contains(p.args, "-") {
		return fault("- reads all params from stdin; it cannot be combined with another bare argument", "-", "")
	}
	var values []json.RawMessage
	for _, i := range bare {
		v, err := p.bare(i)
		if err != nil {
			return err
		}
		values = append(values, v)
	}
	one, keys := scan.Type(values[0]), len(p.args) > len(bare)
	switch {
	case keys && (len(bare) > 1 || one != 'o'):
		first := p.args[bare[0]]
		return fault(fmt.Sprintf("key=value is merged into an object, but %s is not an object", clip(first)), first,
			"give all params by name, or all by position")
	case len(bare) == 1 && (one == 'o' || one == 'a' || p.o.Value):
		p.params.raw = values[0]
	default:
		p.params.raw = scan.ArrayOf(values...)
	}
	return nil
}

// bareWords returns the indexes of the words other than KEY OP VALUE.
func (p *parser) bareWords() (bare []int) {
	for i, arg := range p.args {
		if !IsKeyOp(arg) {
			bare = append(bare, i)
		}
	}
	return bare
}

// bare reads one bare word.
func (p *parser) bare(i int) (json.RawMessage, error) {
	arg := p.args[i]
	if arg == "-" {
		b, err := p.readStdin("-")
		if err != nil {
			return nil, err
		}
		v, err := oneValue(userfile.Unmarked(b))
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
	better := p.mended()
	hint := unclear(arg)
	fixed, ok := repaired(arg)
	switch {
	case strings.HasPrefix(arg, "–"), strings.HasPrefix(arg, "—"), strings.ContainsAny(arg, "“”‘’"): // from an editor
		hint, better = "it contains typographic quotes or dashes: type ' \" and - instead", nil
	case ok:
		hint = "did you mean " + wire.Quote(fixed) + "?"
	case looksStructured(arg), rejoined(p.args) != nil:
		hint = oneWord
	case hint == "":
		hint = "write " + wire.Quote(string(scan.AppendQuoted(nil, arg))) + " for text"
	}
	f := fault(fmt.Sprintf("parameter %s is neither key=value nor JSON (%v)", clip(arg), err), arg, hint)
	f.Err = &ArgError{Arg: arg, Args: better, Err: err}
	return nil, f
}

// mended returns the words with a correction, or nil if their meaning is unclear. It joins words that the shell has
// split, or quotes strings that should be JSON.
func (p *parser) mended() []string {
	if args := rejoined(p.args); args != nil {
		return p.accepted(args)
	}
	args := slices.Clone(p.args)
	for i, arg := range args {
		key, op, text := splitKey(arg)
		if !utf8.ValidString(arg) {
			return nil
		}
		if _, err := oneValue([]byte(text)); err == nil {
			continue
		}
		better, ok := repaired(text)
		if !ok {
			better, ok = meantBy(op, text)
		}
		switch {
		case !ok:
			return nil // the meaning is unclear
		case op == ":=" && better[0] == '"':
			args[i] = key + "=" + text
		case op == "" || op == ":=":
			args[i] = key + op + better
		}
	}
	if slices.Equal(args, p.args) {
		return nil
	}
	return p.accepted(args)
}
