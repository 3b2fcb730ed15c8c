package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
	"rpcx/wire/userfile"
)

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
	pointer, err := p.params.set(path, v, arg)
	if err != nil {
		return fault("parameter "+clip(arg)+": "+err.Error(), arg, "give each key once")
	}
	if op == "=" {
		p.texts = append(p.texts, pointer)
	}
	if op == "@on=" {
		wire.Put(&p.funcs, pointer, value)
	}
	return nil
}

// value returns the value in KEY OP VALUE.
func (p *parser) value(i int, path []string, key, op, value string) (json.RawMessage, error) {
	arg := p.args[i]
	switch op {
	case ":=":
		v, err := oneValue([]byte(value))
		if err == nil {
			return v, nil
		}
		hint := "write " + wire.Quote(Shown(key+"="+value)) + " for text"
		switch constant := constants[value]; {
		case constant != "":
			hint = "JSON's constants are true, false and null"
		case value == "":
			hint = "a shell variable may be unset; " + hint
		case rejoined(p.args) != nil:
			hint = oneWord
		}
		f := fault(fmt.Sprintf("parameter %s is not JSON (%v)", clip(arg), err), arg, hint)
		f.Err = &ArgError{Arg: arg, Args: p.mended(), Err: err}
		return nil, f
	case "@=", ":@=":
		b, err := p.readFile(arg, value)
		if err != nil {
			return nil, err
		}
		if op == "@=" {
			return textOf(arg, string(b))
		}
		v, err := oneValue(userfile.Unmarked(b))
		if err != nil {
			if value == "-" {
				value = "stdin"
			}
			return nil, fault(fmt.Sprintf("parameter %s: %s is not JSON: %v", clip(arg), value, err), arg, "")
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

// typed returns the value of key=text, which depends on the schema.
func (p *parser) typed(i int, path []string, value string) (json.RawMessage, error) {
	asText, err := textOf(p.args[i], value)
	if err != nil || p.o.Typer == nil {
		return asText, err
	}
	v, err := p.o.Typer.Coerce(p.ctx, path, value)
	switch {
	case err == nil:
		return v, nil
	case p.ctx.Err() != nil:
		return nil, p.ctx.Err()
	case p.o.NoCheck:
		return asText, nil
	}
	f := misfit(err, p.args[i])
	key, _, _ := splitKey(p.args[i])
	m, ok := errors.AsType[*schema.Mismatch](err)
	wantsArray := ok && m.Rule == "type" && strings.HasSuffix(m.Message, "want array")
	if _, aerr := p.o.Typer.Coerce(p.ctx, append(path, schema.Append), value); aerr == nil && wantsArray {
		f.Hint = "append an element to the array with " + wire.Quote(Shown(key+"[]="+value))
		better := slices.Clone(p.args)
		better[i] = key + "[]=" + value
		f.Err = &ArgError{Arg: p.args[i], Args: p.accepted(better), Err: err}
	}
	return nil, f
}

// textOf returns text as a JSON string.
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
		return nil, &wire.Fault{Kind: wire.IO, Message: "reading stdin: " + err.Error(), Err: &ArgError{Arg: arg, Err: err}}
	}
	return b, nil
}
