// Package complete computes the completions of a command line for the shells' scripts. It runs no part of the line, and
// opens no connection unless RPCX_COMPLETE=ask. It offers the methods of a peer if an earlier describe has cached them.
package complete

import (
	"cmp"
	"context"
	"embed"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/session"
)

// Word is the command that the shells' scripts run. The words of the line follow it.
const Word = "__complete"

// A candidate is a possible word with its description.
type candidate struct {
	value, says string
}

// An answer is the completions of a line's last word.
type answer struct {
	candidates []candidate
	files      string // for files (see kind): the part of the word before the file name
	kind       string // anyFile, directory, or "" for no files
	open       bool   // whether the word may continue; no blank follows such a word
}

const (
	anyFile   = "files"
	directory = "dirs"
)

// Print prints the completions of the last of words, the line after the program's name. The first line is ":KIND
// PREFIX". KIND determines whether a blank follows the word (space) or not (open), or makes the shell offer files or
// directories after PREFIX (files, dirs). One line for each candidate follows: its value, a tab and its description.
// applies, if it is not nil, selects the flags that have an effect.
func Print(w *os.File, root *cmdline.Command, words []string, applies Applies) error {
	if len(words) == 0 {
		words = []string{""}
	}
	a := completions(root, words, applies)
	matching := slices.DeleteFunc(a.candidates, func(c candidate) bool {
		return !strings.HasPrefix(c.value, words[len(words)-1]) || !format.Safe(c.value)
	})
	after := "space"
	if a.open && !(len(matching) == 1 && isWhole(matching[0].value)) {
		after = "open"
	}
	var b strings.Builder
	b.WriteString(":" + cmp.Or(a.kind, after) + " " + a.files + "\n")
	for _, c := range matching {
		b.WriteString(c.value + "\t" + format.CleanLine(strings.Join(strings.Fields(c.says), " ")) + "\n")
	}
	return cmdline.Print(w, b.String())
}

// isWhole reports whether nothing must follow a word: it does not end like a prefix.
func isWhole(word string) bool { return !strings.ContainsAny(word[max(len(word)-1, 0):], "+/:=._") }

// Applies returns a function that reports whether a flag has an effect on a line. A nil function means that every flag does.
type Applies func(l *cmdline.CommandLine) func(flag string) bool

// A line contains the words before the last one.
type line struct{ *cmdline.CommandLine }

// completions returns the completions of the last word.
func completions(root *cmdline.Command, words []string, applies Applies) answer {
	word := words[len(words)-1]
	l := line{cmdline.ParseBegun(root, words[:len(words)-1])}
	switch {
	case l.Open != nil:
		return l.value(l.Open, "", word)
	case l.Dash < 0 && strings.HasPrefix(word, "--") && strings.Contains(word, "="):
		name, _, _ := strings.Cut(word, "=")
		if f := l.Lookup(name[2:]); f != nil {
			return l.value(f, name+"=", word)
		}
		return answer{}
	case l.Dash < 0 && strings.HasPrefix(word, "-"):
		return l.flags(applies)
	case len(l.Cmd.Commands) > 0:
		return commands(l.Cmd)
	}
	return l.argument(word, root)
}

func commands(d *cmdline.Command) answer {
	return answer{candidates: wire.Map(d.Commands, func(sub *cmdline.Command) candidate { return candidate{sub.Name, sub.Usage} })}
}

// flags offers the command's flags that have an effect, and the flags of every command.
func (l line) flags(applies Applies) (a answer) {
	var has func(flag string) bool
	if applies != nil {
		has = applies(l.CommandLine)
	}
	for _, f := range l.Cmd.Flags {
		if has == nil || has(f.Name) {
			a.candidates = append(a.candidates, candidate{"--" + f.Name, f.Usage})
		}
	}
	a.candidates = append(a.candidates, candidate{"--help", "show the full help of this command"})
	if len(l.Path) == 0 {
		a.candidates = append(a.candidates, candidate{"--version", "print the version"})
	}
	return a
}

// askVariable is the environment variable that allows a connection if its value is "ask".
const askVariable = "RPCX_COMPLETE"

// askLimit bounds the wait for a peer's catalog.
const askLimit = 2 * time.Second

// forwardedFlags are the flags for reaching the peer.
var forwardedFlags = []string{"dialect", "header", "cacert", "cert", "key", "insecure", "subprotocol", "proxy", "resolve"}

// ask runs `rpcx describe` for the peer, and returns the outlines. describe caches the catalog if the peer permits caching.
// ask returns nil if describe fails or is not allowed, and for exec: and ipc: endpoints, whose command may be incomplete.
func (l line) ask(typed string) []cache.Outline {
	if os.Getenv(askVariable) != "ask" {
		return nil
	}
	e, err := session.ParseEndpoint(typed, l.Last("dialect"))
	if err != nil || e.Reversed != "" || e.Tape != "" || e.Address.Command != nil || slices.Contains([]string{"ipc", "stdio"}, e.Address.Scheme) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	words := append([]string{"describe", "--timeout", askLimit.String()}, l.Kept(forwardedFlags...)...)
	cmd := exec.CommandContext(ctx, self, append(words, "--", typed)...)
	cmd.Env = append(os.Environ(), cache.HistoryVariable+"=off")
	cmd.WaitDelay = 100 * time.Millisecond
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	return outlinesIn(out)
}

// scripts contains the script of each shell.
//
//go:embed shells/*
var scripts embed.FS

// Shells lists the shells with a completion script.
var Shells = []string{"bash", "zsh", "fish", "powershell"}

// Script returns the completion script of a shell, one of Shells.
func Script(shell string) []byte {
	b, err := scripts.ReadFile("shells/" + shell)
	if err != nil {
		panic(err) // the text is embedded
	}
	return b
}

// Command returns the command completion.
func Command(run *env.Env) *cmdline.Command {
	return &cmdline.Command{
		Name:  "completion",
		Usage: "print the script that completes command lines in a shell",
		Args:  "bash|zsh|fish|powershell",
		Description: "The script completes commands, flags and their values, endpoints (sessions, profiles, demos, recently used ones), and methods " +
			"with their params, as listed by an earlier rpcx describe of that endpoint, or by --catalog. It never runs the command that you type. " +
			"It connects to a peer only with RPCX_COMPLETE=ask (for at most 2s, and not if the endpoint is a command), to complete " +
			"methods and params. With RPCX_HISTORY=off, rpcx does not store endpoints.",
		Examples: []cmdline.Example{
			{Says: "Enable completion in bash, for this shell", Command: ". <(rpcx completion bash)"},
			{Says: "Enable completion in zsh, for all shells", Command: `rpcx completion zsh >"${fpath[1]}/_rpcx"`},
			{Says: "Enable completion in fish, for this shell", Command: "rpcx completion fish | source"},
		},
		Flags: run.Common.Flags(),
		Action: func(context.Context) error {
			if len(run.Line.Args) != 1 || !slices.Contains(Shells, run.Line.Args[0]) {
				return run.Line.Usage("completion takes the name of a shell: %s", strings.Join(Shells, ", "))
			}
			return cmdline.Print(os.Stdout, string(Script(run.Line.Args[0])))
		},
	}
}
