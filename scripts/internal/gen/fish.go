package main

import (
	"bytes"
	"fmt"
	"strings"

	"rpcx/commands/cmdline"
)

// fishHead: __rpcx_at is true where the words of the command so far, flags
// aside, begin with the path that is given, and nothing of a subcommand of it
// follows. commandline -opc gives words, not text to evaluate.
const fishHead = `# fish completion for rpcx. Made by scripts/gen; do not edit.

function __rpcx_words
    set -l skip no
    for word in (commandline -opc)[2..-1]
        if test $skip = yes
            set skip no
        else if contains -- $word $__rpcx_valued
            set skip yes
        else if not string match -q -- '-*' $word
            echo -- $word
        end
    end
end

# The words so far are exactly these.
function __rpcx_at
    set -l words (__rpcx_words)
    test "$words" = "$argv"
end

# The words so far begin with these.
function __rpcx_in
    set -l words (__rpcx_words)
    test (count $words) -ge (count $argv); and test "$words[1..$(count $argv)]" = "$argv"
end

function __rpcx_endpoints
    set -l before (string match -r '^(?:%s)+' -- (commandline -ct))
    for word in %s
        echo -- "$before"$word
    end
end

complete -c rpcx -f
`

// fishCompletion is completions/rpcx.fish.
func fishCompletion(root cmdline.Doc, vals values) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, fishHead, strings.ReplaceAll(strings.Join(prefixes(), "|"), "+", `\+`), strings.Join(append(transports(), prefixes()...), " "))
	var valued []string
	for _, r := range byValue(vals) {
		valued = append(valued, r.flags...)
	}
	fmt.Fprintf(&b, "set -g __rpcx_valued %s\n", strings.Join(valued, " "))
	walk(root, nil, func(path []string, d cmdline.Doc) { fishCommand(&b, path, d) })
	return b.Bytes()
}

// fishCommand writes the completions of one command.
func fishCommand(b *bytes.Buffer, path []string, d cmdline.Doc) {
	at := quoted(strings.TrimSpace("__rpcx_at " + strings.Join(path, " ")))
	in := quoted("__rpcx_in " + strings.Join(path, " "))
	if len(path) == 0 {
		in = at
	}
	b.WriteString("\n")
	for _, s := range d.Commands {
		fmt.Fprintf(b, "complete -c rpcx -n %s -a %s -d %s\n", at, s.Name, quoted(s.Usage))
	}
	if takesEndpoint(d) {
		fmt.Fprintf(b, "complete -c rpcx -n %s -a '(__rpcx_endpoints)'\n", at)
	}
	for _, f := range flagsOf(path, d) {
		fmt.Fprintf(b, "complete -c rpcx -n %s%s -d %s\n", in, fishFlag(f), quoted(f.Usage))
	}
}

// fishFlag is the part of a line that names a flag and its value.
func fishFlag(f cmdline.FlagDoc) string {
	var s strings.Builder
	for _, n := range f.Names {
		if len(n) == 1 {
			s.WriteString(" -s " + n)
		} else {
			s.WriteString(" -l " + n)
		}
	}
	if f.Arg == "" {
		return s.String()
	}
	switch v := valueOf(f.Arg); v.kind {
	case files:
		s.WriteString(" -r -F")
	case dirs:
		s.WriteString(" -x -a '(__fish_complete_directories)'")
	case words:
		s.WriteString(" -x -a " + quoted(strings.Join(v.words, " ")))
	default:
		s.WriteString(" -x")
	}
	return s.String()
}
