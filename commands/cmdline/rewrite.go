package cmdline

import (
	"regexp"
	"slices"
	"strings"

	"rpcx/commands/params"
	"rpcx/wire/redact"
	"rpcx/wire/session"
)

// ForCommand is the line of another command with the flags of this one that say how
// the peer is reached; nil where it would show a secret.
func (l *CommandLine) ForCommand(command string, args []string) []string {
	other := *l
	other.Path, other.Flags = []string{command}, nil
	for _, f := range l.Flags {
		name, _, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		if slices.Contains([]string{"dialect", "header", "cacert", "cert", "key", "insecure", "subprotocol", "token-command"}, name) {
			other.Flags = append(other.Flags, f)
		}
	}
	return other.WithArgs(args)
}

// Has says that a flag stands on the line.
func (l *CommandLine) Has(name string) bool {
	return slices.ContainsFunc(l.Flags, func(f string) bool {
		given, _, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		if given == name {
			return true
		}
		known := l.Lookup(given)
		return known != nil && slices.Contains(known.Names(), name)
	})
}

// IsSafeName is what a peer's word must look like to stand in a command that we
// print (section 3 of the design).
func IsSafeName(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./:-]*$`).MatchString(name)
}

// WithArgs is the command line with other arguments; nil where it would show a
// secret.
func (l *CommandLine) WithArgs(args []string) []string {
	if HasSecret(l.Flags, args) {
		return nil
	}
	words := slices.Concat([]string{"rpcx"}, l.Path)
	if slices.ContainsFunc(args, isFlag) {
		return slices.Concat(words, l.Flags, []string{"--"}, args)
	}
	return slices.Concat(words, args, l.Flags)
}

// HasSecret says that some word of a command line is not to be shown again.
func HasSecret(flags, args []string) bool {
	for _, f := range flags {
		flag, value, _ := strings.Cut(f, "=")
		named := flag == "--header" || flag == "--arg" || flag == "--argjson"
		if i := strings.IndexAny(value, "=:"); named && i >= 0 && redact.SecretName(value[:i]) {
			return true
		}
	}
	for i, arg := range args {
		if i == 0 && strings.HasPrefix(arg, "@") {
			continue // a name hides what it stands for
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
