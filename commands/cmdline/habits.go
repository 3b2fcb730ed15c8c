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

// A habit is a flag of another program, such as curl, jq, gh, wscat or grpcurl, with its replacement in rpcx.
type habit struct {
	names []string // each with its dashes
	takes bool     // it takes a value, perhaps the next word
	hint  string
	drop  bool                        // the flag is removed
	words func(value string) []string // they replace the flag, or nil
	param func(value string) []string // they follow the other parameters, or nil
}

// habits is the table. A row without drop, words and param offers no fix.
var habits = []habit{
	{names: []string{"-d", "--data", "--data-raw", "--data-binary", "--json"}, takes: true, hint: "write parameters after METHOD, as KEY=VALUE or as JSON (- reads stdin)", param: wholeParams},
	{names: []string{"-f", "-F", "--field", "--raw-field", "--form"}, takes: true, hint: "write parameters as KEY=VALUE, without a flag", param: pair},
	{names: []string{"-X", "--request"}, takes: true, hint: "rpcx chooses the HTTP method itself", drop: true},
	{names: []string{"-s", "-S", "-sS", "-Ss", "--silent", "--show-error"}, hint: "rpcx shows no progress in a pipe", drop: true},
	{names: []string{"-L", "--location"}, hint: "rpcx follows 307 and 308 within the origin, and no other redirects", drop: true},
	{names: []string{"-plaintext", "--plaintext"}, hint: "the transport of the endpoint decides whether TLS is used", drop: true},
	{names: []string{"-i", "--include"}, hint: "-v shows the connection, -vv the messages"},
	{names: []string{"-u", "--user"}, takes: true, hint: "http://USER:PASSWORD@HOST/ or -H @FILE sends credentials"},
	{names: []string{"-m", "--max-time"}, takes: true, hint: "--timeout limits the whole command", words: func(value string) []string { return []string{"--timeout", value} }},
	{names: []string{"-e", "--exit-status"}, hint: "--expect EXPR fails unless EXPR is true"},
	{names: []string{"-x"}, takes: true, hint: "use --proxy URL; METHOD and its parameters follow the endpoint"},
	{names: []string{"-c", "--connect"}, hint: "rpcx connect exchanges messages", words: func(string) []string { return []string{"connect"} }},
	{names: []string{"--framing"}, takes: true, hint: "write the framing before the transport, as in header+tcp://HOST:PORT"},
}

// wholeParams returns value if it is JSON for params, or else nil.
func wholeParams(value string) []string {
	if scan.Valid([]byte(value), wire.DefaultMaxDepth) != nil || !strings.ContainsRune("oa", rune(scan.Type([]byte(value)))) {
		return nil
	}
	return []string{value}
}

// pair returns value if it is KEY=VALUE, or else nil.
func pair(value string) []string {
	if !params.IsKeyOp(value) {
		return nil
	}
	return []string{value}
}

// habitOf returns the habit for the flag word, which includes its dashes.
func habitOf(word string) *habit {
	i := slices.IndexFunc(habits, func(h habit) bool { return slices.Contains(h.names, word) })
	if i < 0 {
		return nil
	}
	return &habits[i]
}

// fix returns the line with the replacement of the flag at the index at, or nil if there is none.
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

// Reparsed returns the line made of the words as a fix, or nil if it has a mistake without a fix.
func (l *CommandLine) Reparsed(words ...[]string) []string {
	all := slices.Concat(words...)
	if len(all) >= len(l.Words)+3 { // each fix of a fix adds words; this is the limit
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

// synonyms maps names of commands in other programs to those of rpcx.
var synonyms = map[string][]string{
	"version": {"--version"}, "list": {"describe"}, "ls": {"describe"}, "methods": {"describe"}, "inspect": {"describe"},
	"invoke": {"call"}, "request": {"call"}, "send": {"call"}, "watch": {"subscribe"}, "listen": {"serve"},
}

// unknownCommand returns the Fault for an unknown command below l's. rest follows word.
func (l *CommandLine) unknownCommand(word string, rest, names []string) *wire.Fault {
	if synonyms[word] != nil { // version is similar to session
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
			f.Fix = nil // the endpoint is missing
		}
	case isEndpoint(word) && alone:
		return instead("write a command before the endpoint; describe lists the peer's methods", "describe", word)
	case isEndpoint(word):
		return instead("write a command before the endpoint", "call", word)
	case !alone && isEndpoint(rest[0]):
		f.Hint, f.Fix = "write the command and the endpoint before the method", l.Reparsed(before, []string{"call", rest[0], word}, rest[1:])
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
