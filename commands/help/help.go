// Package help prints help: one screen or all help of a command, a topic, or everything as JSON. The manual uses the
// same texts.
package help

import (
	"context"
	"fmt"
	"os"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/catalog"
)

// NewCommand returns the help command. tree returns all commands.
func NewCommand(run *env.Env, tree func() *cmdline.Command) *cmdline.Command {
	asJSON, all := false, false
	return &cmdline.Command{
		Name:  "help",
		Usage: "explain a command or a topic",
		Args:  "[COMMAND|TOPIC]",
		Description: "Prints the help of a command, with all its flags, or a topic. Without an argument, prints the list of commands and topics. " +
			"--json prints the help as data: commands, arguments, flags with their types and values, exit statuses, topics.",
		Examples: []cmdline.Example{
			{Says: "Learn how hooks answer the peer", Command: "rpcx help hooks"},
			{Says: "Describe the call command as JSON, for a program", Command: "rpcx help call --json"},
		},
		Flags: append([]*cmdline.Flag{
			cmdline.Bool("", "json", "", "print the help as JSON", &asJSON),
			cmdline.Bool("", "all", "", "print the whole manual page of a topic", &all),
		}, run.Common.Flags()...),
		Action: func(context.Context) error { return answer(run.Line, tree(), asJSON, all) },
	}
}

// answer prints the help for the arguments of the line.
func answer(l *cmdline.CommandLine, root *cmdline.Command, asJSON, all bool) error {
	if len(l.Args) == 0 {
		if asJSON {
			return printTree(root)
		}
		return cmdline.Print(os.Stdout, Text("rpcx", root, nil, false)+"\n"+listing())
	}
	if d := find(root, l.Args); d != nil {
		if asJSON {
			return printJSON(d)
		}
		return cmdline.Print(os.Stdout, Text("rpcx "+strings.Join(l.Args, " "), d, nil, false))
	}
	if len(l.Args) == 1 {
		switch t := wire.Find(AllTopics(), func(t *Topic) bool { return t.Name == l.Args[0] }); {
		case t != nil && asJSON:
			return printJSON(t)
		case t != nil:
			return cmdline.Print(os.Stdout, topicText(*t, all, DialectFlags(root, t.Name)))
		}
	}
	f := wire.Usagef("there is no command or topic %q", strings.Join(l.Args, " "))
	if near := catalog.Nearest(l.Args[0], names(root)); near != "" {
		return f.WithFix("did you mean "+near+"?", []string{"rpcx", "help", near})
	}
	return f.WithHint("rpcx help lists them")
}

// topicText returns a topic as `rpcx help NAME` prints it. all includes the reference. flags are the flags of a
// dialect.
func topicText(t Topic, all bool, flags string) string {
	var b strings.Builder
	if flags != "" {
		flags = "\n" + Prose(flags)
	}
	row(&b, "", strings.ToUpper(t.Says[:1])+t.Says[1:], 0)
	if all || t.Brief == t.Text {
		return b.String() + "\n" + t.Text + flags
	}
	b.WriteString("\n" + t.Brief + flags + "\n")
	row(&b, "", fmt.Sprintf("The reference: rpcx help %s --all, or man %s.", t.Name, t.Page()), 0)
	return b.String()
}

// find returns the command that several words name, such as "session" "close", or nil.
func find(d *cmdline.Command, words []string) *cmdline.Command {
	for _, word := range words {
		if d = d.Sub(word); d == nil {
			return nil
		}
	}
	return d
}

// AllTopics returns all topics, including those that rpcx generates from its tables.
func AllTopics() []Topic {
	var topics []Topic
	for _, t := range Topics() {
		t.Text, t.Brief = Prose(t.Text), Prose(t.Brief)
		topics = append(topics, t)
	}
	statuses, limits := statuses(), limits()
	return append(topics, Topic{Name: "statuses", Says: "what the exit statuses mean", Text: statuses, Brief: statuses},
		Topic{Name: "limits", Says: "the limits on time and memory, and their effects", Text: limits, Brief: limits})
}

func listing() string {
	var b strings.Builder
	b.WriteString("Topics (rpcx help TOPIC)\n")
	for _, t := range AllTopics() {
		row(&b, "  "+t.Name, strings.TrimPrefix(t.Says, "the "+t.Name+" dialect: "), 16)
	}
	return b.String()
}

func names(root *cmdline.Command) []string {
	names := wire.Map(root.Commands, func(c *cmdline.Command) string { return c.Name })
	return append(names, wire.Map(AllTopics(), func(t Topic) string { return t.Name })...)
}
