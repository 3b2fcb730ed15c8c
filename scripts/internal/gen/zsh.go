package main

import (
	"bytes"
	"fmt"
	"strings"

	"rpcx/commands/cmdline"
)

const zshHead = `#compdef rpcx
# zsh completion for rpcx. Made by scripts/gen; do not edit.

_rpcx_endpoint() {
  while compset -P "(${(j:|:)${=_rpcx_prefixes}})"; do :; done
  if compset -P '(ws+|http+|)unix:'; then
    _files
  elif compset -P '(exec|ipc):'; then
    _files
  else
    compadd -S '' -- ${=_rpcx_transports}
    compadd -S '' -- ${=_rpcx_prefixes}
  fi
}

`

// zshCompletion is completions/_rpcx.
func zshCompletion(root cmdline.Doc) []byte {
	var b bytes.Buffer
	b.WriteString(zshHead)
	walk(root, nil, func(path []string, d cmdline.Doc) { zshCommand(&b, path, d) })
	fmt.Fprintf(&b, "typeset -g _rpcx_transports=%s\ntypeset -g _rpcx_prefixes=%s\n\n_rpcx \"$@\"\n",
		quoted(strings.Join(transports(), " ")), quoted(strings.Join(prefixes(), " ")))
	return b.Bytes()
}

// zshCommand writes the function of one command.
func zshCommand(b *bytes.Buffer, path []string, d cmdline.Doc) {
	fmt.Fprintf(b, "%s() {\n", zshName(path))
	if len(d.Commands) > 0 {
		b.WriteString("  local state line\n  typeset -A opt_args\n")
	}
	b.WriteString("  _arguments -S")
	for _, f := range flagsOf(path, d) {
		b.WriteString(" \\\n    " + zshFlag(f))
	}
	switch {
	case len(d.Commands) > 0:
		b.WriteString(" \\\n    '1: :->command' \\\n    '*:: :->rest'\n")
		zshSubcommands(b, path, d)
	case takesEndpoint(d):
		b.WriteString(" \\\n    '1:endpoint:_rpcx_endpoint' \\\n    '*: :_message argument'\n")
	default:
		b.WriteString("\n")
	}
	b.WriteString("}\n\n")
}

// zshSubcommands writes what becomes of the words after a command that has
// others below it.
func zshSubcommands(b *bytes.Buffer, path []string, d cmdline.Doc) {
	b.WriteString("  case $state in\n  command)\n    local -a names=(\n")
	for _, s := range d.Commands {
		fmt.Fprintf(b, "      %s\n", quoted(s.Name+":"+s.Usage))
	}
	b.WriteString("    )\n    _describe command names\n    ;;\n  rest)\n    case $line[1] in\n")
	for _, s := range d.Commands {
		fmt.Fprintf(b, "    %s) %s ;;\n", s.Name, zshName(append(path[:len(path):len(path)], s.Name)))
	}
	b.WriteString("    esac\n    ;;\n  esac\n")
}

func zshName(path []string) string { return strings.Join(append([]string{"_rpcx"}, path...), "_") }

// zshFlag is one specification of _arguments.
func zshFlag(f cmdline.FlagDoc) string {
	var names []string
	for _, n := range f.Names {
		names = append(names, dashed(n))
	}
	escape := strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, ":", `\:`)
	tail := "[" + escape.Replace(f.Usage) + "]"
	if f.Arg != "" {
		tail += ":" + escape.Replace(f.Arg) + ":" + valueOf(f.Arg).zsh()
	}
	exclusive := "(" + strings.Join(names, " ") + ")"
	if f.Repeated {
		exclusive = "*"
	}
	if len(names) == 1 {
		if f.Arg != "" {
			names[0] += "="
		}
		if !f.Repeated {
			exclusive = ""
		}
		return quoted(exclusive + names[0] + tail)
	}
	for i, n := range names {
		switch {
		case f.Arg != "" && strings.HasPrefix(n, "--"):
			names[i] += "="
		case f.Arg != "":
			names[i] += "+"
		}
	}
	return quoted(exclusive) + "{" + strings.Join(names, ",") + "}" + quoted(tail)
}

func (v value) zsh() string {
	switch v.kind {
	case files:
		return "_files"
	case dirs:
		return "_files -/"
	case words:
		return "(" + strings.Join(v.words, " ") + ")"
	}
	return " "
}
