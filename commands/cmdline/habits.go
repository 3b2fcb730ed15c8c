package cmdline

import (
	"slices"
	"strings"

	"rpcx/commands/params"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// A habit is a flag of another program, such as curl, jq, gh, wscat or grpcurl, and what rpcx has in its place.
type habit struct {
	names []string // each with its dashes
	takes bool     // it has a value, which may be the word after it
	hint  string
	drop  bool                        // it is left out
	words func(value string) []string // stand in its place; nil: none
	param func(value string) []string // stand after the others; nil: none
}

// habits is the table. A row without drop, words and param proposes no command.
var habits = []habit{
	{names: []string{"-d", "--data", "--data-raw", "--data-binary", "--json"}, takes: true, hint: "the parameters stand after METHOD, as KEY=VALUE or as JSON (- reads stdin)", param: wholeParams},
	{names: []string{"-f", "-F", "--field", "--raw-field", "--form"}, takes: true, hint: "a parameter is KEY=VALUE, without a flag", param: pair},
	{names: []string{"-X", "--request"}, takes: true, hint: "rpcx chooses the HTTP method", drop: true},
	{names: []string{"-s", "-S", "-sS", "-Ss", "--silent", "--show-error"}, hint: "rpcx shows no progress in a pipe", drop: true},
	{names: []string{"-L", "--location"}, hint: "rpcx follows 307 and 308 within the origin, and no other redirects", drop: true},
	{names: []string{"-plaintext", "--plaintext"}, hint: "the endpoint's transport says whether there is TLS", drop: true},
	{names: []string{"-i", "--include"}, hint: "-v shows the connection, -vv the messages"},
	{names: []string{"-u", "--user"}, takes: true, hint: "http://USER:PASSWORD@HOST/ or -H @FILE sends credentials"},
	{names: []string{"-m", "--max-time"}, takes: true, hint: "--timeout bounds the command", words: func(value string) []string { return []string{"--timeout", value} }},
	{names: []string{"-e", "--exit-status"}, hint: "--expect EXPR fails unless EXPR holds"},
	{names: []string{"-x"}, takes: true, hint: "--proxy URL; METHOD and its parameters stand after the endpoint"},
	{names: []string{"-c", "--connect"}, hint: "rpcx connect exchanges messages", words: func(string) []string { return []string{"connect"} }},
	{names: []string{"--framing"}, takes: true, hint: "a framing stands before the transport, as in header+tcp://HOST:PORT"},
}

// wholeParams returns JSON that can be the params; nil for other text.
func wholeParams(value string) []string {
	if scan.Valid([]byte(value), wire.DefaultMaxDepth) != nil || !strings.ContainsRune("oa", rune(scan.Type([]byte(value)))) {
		return nil
	}
	return []string{value}
}

// pair returns a word KEY=VALUE; nil for other text.
func pair(value string) []string {
	if !params.IsKeyOp(value) {
		return nil
	}
	return []string{value}
}

// habitOf returns the habit of the flag word, without dashes stripped.
func habitOf(word string) *habit {
	i := slices.IndexFunc(habits, func(h habit) bool { return slices.Contains(h.names, word) })
	if i < 0 {
		return nil
	}
	return &habits[i]
}

// fix returns the line with what rpcx has in place of the flag at index at; nil where it has nothing.
func (h *habit) fix(l *CommandLine, at int, value string, given bool) []string {
	end := at + 1
	if h.takes && !given && end < len(l.Words) {
		value, end = l.Words[end], end+1
	}
	switch {
	case h.drop:
		return l.Reparsed(l.Words[:at], nil, l.Words[end:])
	case h.words != nil:
		return l.Reparsed(l.Words[:at], h.words(value), l.Words[end:])
	case h.param != nil && h.param(value) != nil:
		rest, dash := slices.Concat(l.Words[:at], l.Words[end:]), []string(nil)
		if i := slices.Index(rest, "--"); i >= 0 {
			rest, dash = rest[:i], rest[i:]
		}
		return l.Reparsed(rest, h.param(value), dash)
	}
	return nil
}

// Reparsed returns the line that the words make, as it is proposed; nil if something is wrong with it that no proposal mends.
func (l *CommandLine) Reparsed(words ...[]string) []string {
	all := slices.Concat(words...)
	if len(all) >= len(l.Words)+3 { // each proposal mends something
		return nil
	}
	better, err := Parse(l.all(), all, l.common, l.all)
	if f := wire.AsFault(err); f != nil {
		return f.Fix
	}
	if hasSecret(better.Flags, better.Args) {
		return nil
	}
	return better.line(better.Args)
}

// synonyms are words that stand for a command in other programs.
var synonyms = map[string][]string{
	"version": {"--version"}, "list": {"describe"}, "ls": {"describe"}, "methods": {"describe"}, "inspect": {"describe"},
	"invoke": {"call"}, "request": {"call"}, "send": {"call"}, "watch": {"subscribe"}, "listen": {"serve"},
}

// unknownCommand returns the failure that word, which rest follows, is not a command below l's.
func (l *CommandLine) unknownCommand(word string, rest, names []string) *wire.Fault {
	if synonyms[word] != nil { // version is near to session
		names = nil
	}
	f := wire.Usagef("there is no command %q", word)
	f.Hint = strings.Join(append(append([]string{"see", "rpcx"}, l.Path...), "--help"), " ")
	before := l.Words[:len(l.Words)-len(rest)-1]
	instead := func(hint string, words ...string) *wire.Fault {
		f.Hint, f.Fix = hint, l.Reparsed(before, words, rest)
		return f
	}
	near, alone := catalog.Nearest(word, names), len(rest) == 0 || isFlag(rest[0])
	switch synonym := synonyms[word]; {
	case len(l.Path) > 0 && near == "":
		return f
	case near != "":
		if instead("did you mean "+near+"?", near); !catalog.IsSlip(word, near) {
			f.Fix = nil
		}
	case synonym != nil:
		if instead("did you mean rpcx "+synonym[0]+"?", synonym...); alone && word != "version" {
			f.Fix = nil // an endpoint lacks
		}
	case isEndpoint(word) && alone:
		return instead("the command stands before the endpoint; describe shows what the peer has", "describe", word)
	case isEndpoint(word):
		return instead("the command stands before the endpoint", "call", word)
	case !alone && isEndpoint(rest[0]):
		f.Hint, f.Fix = "the command and the endpoint stand before the method", l.Reparsed(before, []string{"call", rest[0], word}, rest[1:])
	}
	return f
}

// isEndpoint reports whether a word can only be an endpoint.
func isEndpoint(word string) bool {
	if strings.HasPrefix(word, "@") {
		return true
	}
	_, err := session.ParseEndpoint(word, "")
	return err == nil
}
