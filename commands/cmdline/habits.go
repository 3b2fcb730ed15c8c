package cmdline

import (
	"regexp"
	"slices"
	"strings"

	"rpcx/commands/params"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// A habit is a flag of another program, such as curl, jq, gh, wscat or grpcurl, with its replacement in rpcx. A row without
// drop, words and param has no fix.
type habit struct {
	names []string
	takes bool // whether the flag has a value, perhaps the next word
	hint  string
	valid func(value string) bool // the values that have a fix; nil for all
	drop  bool                    // the fix removes the flag
	words []string                // replace the flag; its value follows them
	param bool                    // the fix adds the value after the other parameters
}

var habits = []habit{
	{names: []string{"-d", "--data", "--data-raw", "--data-binary", "--json", "--params", "--args"}, takes: true, hint: "write parameters after METHOD, as KEY=VALUE or as JSON (- reads stdin)", valid: isParams, param: true},
	{names: []string{"-f", "-F", "--field", "--raw-field", "--form"}, takes: true, hint: "write parameters as KEY=VALUE, without a flag", valid: params.IsKeyOp, param: true},
	{names: []string{"-X", "--request"}, takes: true, hint: "rpcx chooses the HTTP method itself", valid: matches(`^[A-Z]+$`), drop: true},
	{names: []string{"-s", "-S", "-sS", "-Ss", "--silent", "--show-error"}, hint: "rpcx shows no progress in a pipe", drop: true},
	{names: []string{"-L", "--location"}, hint: "rpcx follows only redirects with status 307 or 308, within the origin", drop: true},
	{names: []string{"-plaintext", "--plaintext"}, hint: "the transport of the endpoint decides whether TLS is used", drop: true},
	{names: []string{"-i", "--include"}, hint: "-v shows the connection, -vv the messages"},
	{names: []string{"-u", "--user"}, takes: true, hint: "http://USER:PASSWORD@HOST/ or -H @FILE sends credentials"},
	{names: []string{"-m", "--max-time"}, takes: true, hint: "--timeout limits the whole command", valid: matches(`^[0-9.]+(ms|s|m|h)?$`), words: []string{"--timeout"}},
	{names: []string{"-e", "--exit-status"}, hint: "--expect EXPR fails unless EXPR is true"},
	{names: []string{"-x"}, takes: true, hint: "--proxy URL names a proxy; METHOD and its parameters follow the endpoint"},
	{names: []string{"-c", "--connect"}, takes: true, hint: "rpcx connect exchanges messages", valid: isEndpoint, words: []string{"connect"}},
	{names: []string{"--filter", "--query"}, takes: true, hint: "--jq filters the result; write a method's parameter without dashes: KEY=VALUE", valid: matches(`^\.`), words: []string{"--jq"}},
	{names: []string{"--endpoint", "--url", "--server", "--host", "--address"}, takes: true, hint: "write the endpoint after the command, without a flag", valid: isEndpoint, words: []string{}},
	{names: []string{"-p", "--port"}, takes: true, hint: "write the port in the endpoint, such as tcp://127.0.0.1:9000"},
	{names: []string{"-b", "--cookie"}, takes: true, hint: "-H 'Cookie: NAME=VALUE' or -H @FILE sends cookies"},
	{names: []string{"--retry-delay", "--retry-max-time"}, takes: true, hint: "--retry takes only a number; --timeout limits the whole command", drop: true},
	{names: []string{"-V"}, hint: "--version prints the version", words: []string{"--version"}},
	{names: []string{"--framing"}, takes: true, hint: "write the framing before the transport, as in header+tcp://HOST:PORT"},
}

func matches(pattern string) func(value string) bool {
	return func(value string) bool { return regexp.MustCompile(pattern).MatchString(value) }
}

// isParams reports whether a word is JSON for params, or KEY=VALUE.
func isParams(word string) bool {
	return params.IsKeyOp(word) || scan.Valid([]byte(word), wire.DefaultMaxDepth) == nil && strings.ContainsRune("oa", rune(scan.Type([]byte(word))))
}

// ofCommand is for a flag that belongs to the command that serve runs, and must therefore follow "--".
var ofCommand = habit{hint: "write a command after --"}

// habitOf returns the habit for the flag word, including its dashes, or nil.
func (l *CommandLine) habitOf(word string) *habit {
	switch {
	case l.Cmd.Name == "serve" && len(l.Args) > 1 && !slices.Contains(l.Words, "--"):
		return &ofCommand
	case word == "--json" && len(l.Args) == 0:
		return nil
	}
	return wire.Find(habits, func(h *habit) bool { return slices.Contains(h.names, word) })
}

// fix returns the line with a replacement for the flag at the index at, or nil.
func (h *habit) fix(l *CommandLine, at int, value string, given bool) []string {
	end := at + 1
	if h.takes && !given && end < len(l.Words) {
		value, end = l.Words[end], end+1
	}
	words := slices.Clone(h.words)
	if h.takes {
		words = append(words, value)
	}
	switch {
	case h.valid != nil && !h.valid(value):
	case h.drop:
		return l.Reparsed(l.Words[:at], nil, l.Words[end:])
	case h.words != nil:
		return l.Reparsed(l.Words[:at], words, l.Words[end:])
	case h.param:
		rest, dash := slices.Concat(l.Words[:at], l.Words[end:]), []string(nil)
		if i := slices.Index(rest, "--"); i >= 0 {
			rest, dash = rest[:i], rest[i:]
		}
		return l.Reparsed(rest, words, dash)
	}
	return nil
}

// Reparsed returns the line after all fixes of words, or nil if words contain a mistake without a fix.
func (l *CommandLine) Reparsed(words ...[]string) []string {
	all := slices.Concat(words...)
	if len(all) >= len(l.Words)+3 { // each fix adds words; this bounds the number of successive fixes
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

// synonyms maps commands of other programs to commands of rpcx.
var synonyms = map[string][]string{
	"version": {"--version"}, "list": {"describe"}, "ls": {"describe"}, "methods": {"describe"}, "inspect": {"describe"},
	"invoke": {"call"}, "request": {"call"}, "send": {"call"}, "watch": {"subscribe"}, "listen": {"serve"}, "login": {"auth", "login"}, "logout": {"auth", "logout"},
}

// verbs maps words of other programs to commands with an endpoint and a method.
var verbs = map[string][]string{
	"get": {"call"}, "post": {"call"}, "put": {"call"}, "exec": {"call"}, "run": {"call"}, "query": {"call"}, "rpc": {"call"}, "notify": {"call", "--notify"},
	"listen": {"subscribe"}, "tail": {"subscribe"}, "stream": {"subscribe"}, "follow": {"subscribe"}, "sub": {"subscribe"},
}

// synonymOf returns the command for the unknown word before rest, or nil.
func synonymOf(word string, rest []string) []string {
	if v := verbs[word]; v != nil && len(rest) > 1 && isEndpoint(rest[0]) && IsSafeName(rest[1]) && !params.IsKeyOp(rest[1]) {
		return v
	}
	return synonyms[word]
}

// unknownCommand returns the Fault for an unknown command below the command of l. rest follows word.
func (l *CommandLine) unknownCommand(word string, rest, names []string) *wire.Fault {
	synonym := synonymOf(word, rest)
	if synonym != nil { // otherwise the similar name session would be suggested for version
		names = nil
	}
	f := l.Usage("there is no command %q", word)
	before := l.Words[:len(l.Words)-len(rest)-1]
	instead := func(hint string, words ...string) *wire.Fault {
		f.Hint, f.Fix = hint, l.Reparsed(before, words, rest)
		return f
	}
	near, alone := catalog.Nearest(word, names), len(rest) == 0 || isFlag(rest[0])
	switch {
	case len(l.Path) > 0 && near == "":
		return f
	case near != "":
		if instead("did you mean "+near+"?", near); !catalog.IsTypo(word, near) {
			f.Fix = nil
		}
	case synonym != nil:
		if instead("did you mean rpcx "+strings.Join(synonym, " ")+"?", synonym...); alone && word != "version" {
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
