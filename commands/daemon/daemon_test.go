package daemon

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/session/daemon"
	"rpcx/wire/testkit"
)

// TestStartupReportsToTheCommand checks that stderr goes to the command that starts the session until the session is ready, and to
// a bounded log afterwards.
func TestStartupReportsToTheCommand(t *testing.T) {
	in, out, err := os.Pipe()
	testkit.OK(t, err)
	b := &startup{out: out}
	_, _ = b.Write([]byte("before\n"))
	b.Ready()
	if live, err := awaitReady(in, format.NewConsole(io.Discard, format.ConsoleOptions{})); !live || err != nil {
		t.Errorf("ready: %t, %v", live, err)
	}
	for i := range logLines + 5 {
		fmt.Fprintf(b, "line %d%s\n", i, strings.Repeat("é", logWidth))
	}
	log := b.Log()
	if len(log) != logLines || !strings.HasPrefix(log[0], "line 5é") || len(log[0]) > logWidth+len("…") {
		t.Errorf("%d lines from %.20q", len(log), log[0])
	}
}

// TestNoLineIsLostAtTheStart checks that lines written while the session becomes ready are not lost.
func TestNoLineIsLostAtTheStart(t *testing.T) {
	for range 100 {
		in, out, err := os.Pipe()
		testkit.OK(t, err)
		b := &startup{out: out}
		writing := make(chan struct{})
		var writer sync.WaitGroup
		writer.Go(func() {
			fmt.Fprintln(b, "before")
			close(writing)
			for len(b.Log()) == 0 {
				fmt.Fprintln(b, "a line")
			}
		})
		var said []byte
		var reader sync.WaitGroup
		reader.Go(func() { said, err = io.ReadAll(in) })
		<-writing
		b.Ready()
		writer.Wait()
		reader.Wait()
		if _, after, live := strings.Cut(string(said), `"live":true}`); err != nil || !live || after != "\n" {
			t.Fatalf("ready: %t, followed by %q, which is not read, %v", live, after, err)
		}
	}
}

// TestSubscriptions checks that the value of --subscribe is a method, optionally followed by a blank and params.
func TestSubscriptions(t *testing.T) {
	e := endpoint.Endpoint{Dialect: "jsonrpc"}
	op, err := subscription(e, ` eth_subscribe ["newHeads"] `)
	if err != nil || op.Method != "eth_subscribe" || string(op.Params) != `["newHeads"]` {
		t.Errorf("%+v, %v", op, err)
	}
	for _, bad := range []string{"", "m {", "m 5"} {
		if _, err := subscription(e, bad); wire.AsFault(err) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	for _, bad := range []string{"", "x", "0", "-1"} {
		if _, err := callID(bad); wire.AsFault(err) == nil {
			t.Errorf("%q is accepted as an id", bad)
		}
	}
}

// TestAsked checks that session flags require --session, and that --session refuses output flags.
func TestAsked(t *testing.T) {
	o := &Options{}
	cmd := &cmdline.Command{Flags: slices.Concat(o.Session.Flags(), o.Client.Flags(&env.Env{}, ""), (&options.Params{}).Flags())}
	for flags, want := range map[string]string{
		"--ensure":                "--ensure needs --session",
		"--session=a --jq=.":      "--jq is for output, but --session prints nothing",
		"--session=a --arg=x=":    "",
		"--session=a --catalog=x": "--catalog is for the prompt, but --session has no prompt",
	} {
		l := &cmdline.CommandLine{Cmd: cmd, Path: []string{"connect"}, Flags: strings.Fields(flags), Args: []string{"demo:orders"}}
		_, err := Asked(l)
		if f := wire.AsFault(err); want == "" && err != nil || want != "" && (f == nil || f.Message != want) {
			t.Errorf("%s: %v", flags, err)
		}
	}
}

// TestTableOfSessions checks that list prints an age only for a session that has responded.
func TestTableOfSessions(t *testing.T) {
	table := fmt.Sprint(rows([]daemon.Status{{Name: "a", State: "live", Started: "x", Age: 61.6, Dialect: "mcp", Endpoint: "e\x1b"}, {Name: "b", State: "silent"}})[1:])
	testkit.Expect(t, "the table", table, `[[@a live mcp 1m2s e\u001b] [@b silent   ]]`)
}
