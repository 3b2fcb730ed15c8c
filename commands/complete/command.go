package complete

import (
	"context"
	"embed"
	"os"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
)

// scripts holds the script of each shell.
//
//go:embed shells/*
var scripts embed.FS

// Shells lists the shells that have a completion script.
var Shells = []string{"bash", "zsh", "fish", "powershell"}

// Script returns the completion script of a shell, one of Shells.
func Script(shell string) []byte {
	b, err := scripts.ReadFile("shells/" + shell)
	if err != nil {
		panic(err) // it is embedded in the program
	}
	return b
}

// Command returns the command completion.
func Command(run *env.Env) *cmdline.Command {
	return &cmdline.Command{
		Name:      "completion",
		Usage:     "print the script that completes command lines in a shell",
		ArgsUsage: "bash|zsh|fish|powershell",
		Description: "Completes commands, flags and their values, endpoints (sessions, profiles, demos, recently used ones), and methods with " +
			"their params, as listed by an earlier rpcx describe of that endpoint, or by --catalog. It opens no connection, unless RPCX_COMPLETE=ask " +
			"allows that for methods and params (for 2s; no command is started), and never runs what you type. " +
			"With RPCX_HISTORY=off, rpcx does not remember endpoints.",
		Metadata: map[string]any{cmdline.ExamplesKey: []cmdline.Example{
			{Says: "Enable it in bash, for this shell", Command: ". <(rpcx completion bash)"},
			{Says: "Enable it in zsh, for all shells", Command: `rpcx completion zsh >"${fpath[1]}/_rpcx"`},
			{Says: "Enable it in fish, for this shell", Command: "rpcx completion fish | source"},
		}},
		Flags: run.Common.Flags(),
		Action: func(context.Context, *cmdline.Command) error {
			if len(run.Line.Args) != 1 || !slices.Contains(Shells, run.Line.Args[0]) {
				return run.Line.Usage("completion takes the name of a shell: %s", strings.Join(Shells, ", "))
			}
			return cmdline.Print(os.Stdout, string(Script(run.Line.Args[0])))
		},
	}
}
