package suggest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/session"
	"rpcx/wire/transport"
)

// Endpoint completes err, the failure of an invalid endpoint, with the only possible correction of the command line, if any. If
// listening, the endpoint is a listen address.
func Endpoint(l *cmdline.CommandLine, err error, listening bool) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Usage || f.Fix != nil {
		return err
	}
	typed, args, hint := l.Args[0], slices.Clone(l.Args), f.Hint
	switch better := meant(typed, f); {
	case better != "":
		args[0] = better
	case len(args) > 1 && all.Has(typed) && isEndpoint(args[1]):
		args, hint = append([]string{typed + "+" + args[1]}, args[2:]...), "the dialect goes before the transport"
	case len(args) > 1 && !strings.Contains(typed, ":") && isEndpoint(args[1]):
		args[0], args[1], hint = args[1], typed, "the endpoint goes before the method"
	default:
		better, about := ofFile(typed, listening)
		switch {
		case about == "":
			return err
		case better == "":
			return f.WithHint(about)
		}
		args[0], hint = better, about
	}
	return f.WithFix(hint, l.WithArgs(args))
}

// meant returns the only endpoint that typed can mean, according to the cause of its failure, or "".
func meant(typed string, f *wire.Fault) string {
	var shell transport.NeedsShell
	switch other, ok := errors.AsType[transport.Meant](f); {
	case errors.As(f, &shell):
		before, _ := strings.CutSuffix(typed, shell.Command)
		return before + shell.Better
	case ok:
		before, _ := strings.CutSuffix(typed, other.Given)
		if better := before + other.Better; isEndpoint(better) {
			return better
		}
	}
	if scheme, rest, ok := strings.Cut(typed, "//"); ok && !strings.Contains(scheme, ":") && isEndpoint(scheme+"://"+rest) {
		return scheme + "://" + rest
	}
	return ""
}

// ofFile returns the endpoint that a file name means, and a hint that names the kind of file, or "". If listening is true, no file is an
// endpoint.
func ofFile(typed string, listening bool) (better, hint string) {
	before, file, isStdio := strings.Cut(typed, "stdio:")
	if !isStdio {
		before, file = "", typed
	}
	info, err := os.Stat(file)
	if err != nil || strings.ContainsAny(file, "+@") {
		return "", ""
	}
	quoted := wire.Quote(file)
	switch mode := info.Mode(); {
	case mode&os.ModeSocket != 0 && !isStdio:
		return "unix:" + file, "it is a socket"
	case !mode.IsRegular():
	case listening:
		return "", "it is a file, not a listen address, such as ws://127.0.0.1:0/ or unix:PATH; to give a catalog, use --catalog"
	case mode&0o111 != 0:
		if !strings.Contains(file, "/") {
			quoted = "./" + quoted
		}
		return before + "exec:" + quoted, "it is a program"
	case isTape(file):
		return "tape:" + file, "it is a tape"
	default:
		return "", fmt.Sprintf("the file %s is not executable; to give a catalog, use --catalog", quoted)
	}
	return "", ""
}

// isTape reports whether a file begins like a tape.
func isTape(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head, _ := io.ReadAll(io.LimitReader(f, 16))
	return bytes.HasPrefix(head, []byte(`{"tape":`))
}

// isEndpoint reports whether word is a valid endpoint.
func isEndpoint(word string) bool {
	_, err := session.ParseEndpoint(word, "")
	return err == nil
}
