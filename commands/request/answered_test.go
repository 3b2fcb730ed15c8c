package request

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
)

// anything has lines that an untrusted peer might send. "" shuts down its sending direction, "x" closes the connection, and "…"
// ends an incomplete line.
var anything = []string{
	`{"jsonrpc":"2.0","id":1,"result":{"yes":1}}`,
	`{"jsonrpc":"2.0","id":1,"result":"s"}`,
	`{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"no"}}`,
	`{"jsonrpc":"2.0","id":2,"result":"of another"}`,
	`{"jsonrpc":"2.0","id":"1","result":"of another"}`,
	`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
	`{"jsonrpc":"2.0","id":1}`,
	`{"jsonrpc":"2.0","method":"n","params":{"subscription":"s","result":1}}`,
	`{"jsonrpc":"2.0","method":"n","params":{"subscription":"s","done":true}}`,
	`{"jsonrpc":"2.0","method":"n","params":{"subscription":"t","result":1}}`,
	`{"jsonrpc":"2.0","id":9,"method":"ask"}`,
	`{"type":"event"}`,
	`[]`,
	`[{"jsonrpc":"2.0","id":1,"result":{"yes":2}},{"type":"event"}]`,
	`{"jsonrpc":"2.0","id":1,"result":…`,
	`not JSON`,
	``,
	`x`,
}

// TestStatusZeroMeansAnswered checks that status 0 means that the peer has answered: a call with a result, a subscription with a
// response and the end of the stream.
func TestStatusZeroMeansAnswered(t *testing.T) {
	var running sync.WaitGroup
	defer running.Wait()
	const atOnce = 16 // most of the time is spent waiting
	for first := range uint64(atOnce) {
		running.Go(func() {
			for seed := first; seed < 400; seed += atOnce {
				statusZeroMeansAnswered(t, seed)
			}
		})
	}
}

func statusZeroMeansAnswered(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	var script []string
	for range 1 + random.IntN(5) {
		script = append(script, anything[random.IntN(len(anything))])
	}
	for _, kind := range []dialect.OpKind{dialect.Call, dialect.Subscribe, dialect.Raw} {
		op := dialect.Op{Kind: kind, Method: "m"}
		if kind == dialect.Raw {
			op = dialect.Op{Kind: kind, Params: json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"m"}`)}
		}
		out, err := ask(t, script, op)
		if err == nil && !wasAnswered(script, kind) {
			t.Errorf("seed %d, operation %d: success after %q, with %q", seed, kind, script, out)
		}
	}
}

// wasAnswered reports whether a line of the script answers the operation before the connection ends or a line is rejected.
func wasAnswered(script []string, kind dialect.OpKind) bool {
	sent := strings.Join(script, "\n")
	switch {
	case kind != dialect.Subscribe || strings.Contains(sent, `"yes"`):
		return strings.Contains(sent, `"yes"`) || strings.Contains(sent, `"id":1,"result":"s"`) || kind == dialect.Raw && strings.Contains(sent, `"id":1}`)
	}
	return strings.Contains(sent, `"done":true`)
}

// ask runs op against a peer that reads one line and plays script.
func ask(t *testing.T, script []string, op dialect.Op) (string, error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go play(l, script)
	e, err := endpoint.Parse("tcp://"+l.Addr().String(), "")
	if err != nil {
		t.Fatal(err)
	}
	var out, words strings.Builder
	print, err := format.New(&out, format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := &env.Env{Console: format.NewConsole(&words, format.ConsoleOptions{}), Signal: context.Background()}
	a.Line = &cmdline.CommandLine{Cmd: &cmdline.Command{}, Args: []string{"tcp://", "m"}}
	r := &Request{
		Env: a, Client: &options.Client{}, Endpoint: e, Print: print, Timeout: 10 * time.Second,
		Op: op, Read: ReadOptions{Stream: op.Kind == dialect.Subscribe},
	}
	err = r.Do(context.Background())
	return out.String(), err
}

// play accepts one connection, reads one line, plays script and closes.
func play(l net.Listener, script []string) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	in := bufio.NewReader(c)
	if _, err := in.ReadString('\n'); err != nil && !errors.Is(err, io.EOF) {
		return
	}
	for _, line := range script {
		switch {
		case line == "":
			_ = c.(*net.TCPConn).CloseWrite()
			return
		case line == "x":
			return
		case strings.HasSuffix(line, "…"):
			fmt.Fprint(c, strings.TrimSuffix(line, "…"))
			return
		}
		fmt.Fprintln(c, line)
	}
}
