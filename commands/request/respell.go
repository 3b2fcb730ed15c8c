package request

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/session"
	"rpcx/wire/transport"
)

// suggestEndpoint adds to the failure to read an endpoint the command line with the one that was probably meant.
func suggestEndpoint(l *cmdline.CommandLine, err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Usage || f.Fix != nil {
		return err
	}
	g := *f
	if len(l.Args) > 1 && !strings.Contains(l.Args[0], ":") && isEndpoint(l.Args[1]) {
		g.Hint = "the endpoint stands before the method"
		g.Fix = l.WithArgs(slices.Concat([]string{l.Args[1], l.Args[0]}, l.Args[2:]))
		return &g
	}
	if better := meant(l.Args[0], f); better != "" {
		if g.Hint != better {
			g.Hint = fmt.Sprintf("did you mean %s?", better)
		}
		g.Fix = l.WithArgs(slices.Concat([]string{better}, l.Args[1:]))
		return &g
	}
	return err
}

// meant returns what typed should probably be; "" where that is not known. It is an endpoint.
func meant(typed string, f *wire.Fault) string {
	var shell transport.NeedsShell
	if errors.As(f, &shell) {
		prefix, _ := strings.CutSuffix(typed, shell.Command)
		return prefix + shell.Better
	}
	guesses := []string{strings.TrimSuffix(strings.TrimPrefix(f.Hint, "did you mean "), "?")}
	if scheme, rest, ok := strings.Cut(typed, "//"); ok {
		guesses = append(guesses, strings.TrimRight(scheme, ":")+"://"+rest)
	}
	for _, guess := range guesses {
		if !strings.Contains(guess, " ") && isEndpoint(guess) {
			return guess
		}
	}
	return ""
}

// isEndpoint reports whether word can be nothing but an endpoint that is well written.
func isEndpoint(word string) bool {
	_, err := session.ParseEndpoint(word, "")
	return err == nil
}
