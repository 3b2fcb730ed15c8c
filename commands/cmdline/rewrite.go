package cmdline

import (
	"slices"
	"strings"

	"rpcx/commands/params"
	"rpcx/wire/redact"
	"rpcx/wire/session"
)

// ForCommand returns the line of another command with l's flags for reaching the peer, and more flags. It returns nil
// if the line would show a secret.
func (l *CommandLine) ForCommand(command string, args []string, more ...string) []string {
	return l.forCommand([]string{command}, args, []string{"dialect", "header", "cacert", "cert", "key", "insecure", "subprotocol", "token-command", "proxy", "resolve", "account"}, more)
}

// ForLogin returns the line of a login to l's endpoint.
func (l *CommandLine) ForLogin(more ...string) []string {
	return l.forCommand([]string{"auth", "login"}, l.Args[:1], []string{"cacert", "insecure", "proxy", "resolve", "account"}, more)
}

func (l *CommandLine) forCommand(path, args, kept, more []string) []string {
	other := *l
	other.Path = path
	other.Flags = append(l.Kept(kept...), more...)
	return other.WithArgs(args)
}

// Kept returns the flags on the command line that have one of names.
func (l *CommandLine) Kept(names ...string) (kept []string) {
	for _, f := range l.Flags {
		if name, _ := SplitFlag(f); slices.Contains(names, name) {
			kept = append(kept, f)
		}
	}
	return kept
}

// Has reports whether the flag is on the command line.
func (l *CommandLine) Has(name string) bool { return l.Kept(name) != nil }

// Last returns the last value of a flag on the command line, or "".
func (l *CommandLine) Last(name string) string {
	value := ""
	for _, f := range l.Kept(name) {
		_, value = SplitFlag(f)
	}
	return value
}

// SplitFlag returns the name and the value of a flag of the form --name=value. The value of a lone flag is "".
func SplitFlag(flag string) (name, value string) {
	name, value, _ = strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	return name, value
}

// IsSafeName reports whether a peer's name is safe in a fix: it contains only letters, digits and a few marks.
func IsSafeName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
		if !letter && (i == 0 || !strings.ContainsRune("./:-", rune(c))) {
			return false
		}
	}
	return name != ""
}

// WithArgs returns l with other arguments. It returns nil if the line would show a secret or equals the typed line.
func (l *CommandLine) WithArgs(args []string) []string {
	if hasSecret(l.Flags, args) {
		return nil
	}
	line := l.line(args)
	if slices.Equal(line, l.typed) {
		return nil
	}
	return line
}

// line returns l with other arguments.
func (l *CommandLine) line(args []string) []string {
	words, flags := slices.Concat([]string{"rpcx"}, l.Path), l.Flags
	if l.WantsHelp {
		flags = append(slices.Clone(flags), "--help")
	}
	if l.WantsVersion {
		flags = append(slices.Clone(flags), "--version")
	}
	if slices.ContainsFunc(args, isFlag) {
		return slices.Concat(words, flags, []string{"--"}, args)
	}
	return slices.Concat(words, args, flags)
}

// WithFlag returns l with better in place of the flag old, which has the form --name=value. It returns nil if the line
// would show a secret.
func (l *CommandLine) WithFlag(old, better string) []string {
	other := *l
	other.Flags = slices.Clone(l.Flags)
	if i := slices.Index(other.Flags, old); i >= 0 {
		other.Flags[i] = better
	}
	return other.WithArgs(l.Args)
}

// WithMore returns l with one more flag of the form --name=value. It returns nil if the line would show a secret.
func (l *CommandLine) WithMore(flag string) []string {
	other := *l
	other.Flags = append(slices.Clone(l.Flags), flag)
	return other.WithArgs(l.Args)
}

// isSecretFlag reports whether a flag of the form --name=value contains a secret.
func isSecretFlag(f string) bool {
	flag, value, _ := strings.Cut(f, "=")
	switch flag {
	case "--proxy":
		return strings.Contains(value, "@")
	case "--header":
		name, _, ok := strings.Cut(value, ":")
		return ok && redact.SecretField(name)
	case "--arg", "--argjson", "--set":
		i := strings.IndexAny(value, "=:")
		return i >= 0 && redact.SecretName(value[:i])
	}
	return false
}

// hasSecret reports whether a command line contains a secret: a password, a token, or a header with one.
func hasSecret(flags, args []string) bool {
	if slices.ContainsFunc(flags, isSecretFlag) {
		return true
	}
	for i, arg := range args {
		if i == 0 && strings.HasPrefix(arg, "@") {
			continue // the name of a session or profile reveals nothing about its endpoint
		}
		if e, err := session.ParseEndpoint(arg, ""); i == 0 && err == nil && strings.Contains(e.String(), "…") {
			return true
		}
		if params.Shown(arg) != arg {
			return true
		}
	}
	return false
}
