package commands

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// ways are the commands of which success says that something was answered. says is what a
// peer may say after the requests, of which it reads asks lines; each line is said as it
// is, cut off ("…" at its end), or broken. answered says whether the lines that were whole
// on the wire answer what was asked; shown what must be among them for each line of stdout.
var ways = []struct {
	name, words, stdin string
	first              []string // said before anything is read
	asks               []string // what the requests hold, in this order; a line is said after each but the last
	between            []string
	says               []string
	answered           func(said []answer) bool
}{
	{
		name: "call", words: "call jsonrpc+E m", asks: []string{`"m"`},
		says:     append(slices.Clone(noise), `{"jsonrpc":"2.0","id":1,"result":{"yes":1}}`, `{"id":1,"result":5,"error":null}`, `[{"jsonrpc":"2.0","id":1,"result":[1]},{"type":"event"}]`),
		answered: func(said []answer) bool { return has(said, 1) },
	},
	{
		name: "batch", words: "call jsonrpc+E --batch", stdin: "{\"method\":\"m\"}\n{\"method\":\"m\"}\n{\"method\":\"m\"}\n", asks: []string{`"m"`, `"m"`, `"m"`},
		says: append(slices.Clone(noise), `{"jsonrpc":"2.0","id":1,"result":{"yes":1}}`, `{"jsonrpc":"2.0","id":2,"result":{"yes":2}}`, `{"jsonrpc":"2.0","id":3,"result":null}`,
			`[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","id":2,"result":2},{"jsonrpc":"2.0","id":3,"result":3}]`),
		answered: func(said []answer) bool { return has(said, 1) && has(said, 2) && has(said, 3) },
	},
	{
		name: "connect", words: "connect jsonrpc+E", stdin: "{\"id\":1,\"method\":\"m\"}\n", asks: []string{`"m"`},
		says:     append(slices.Clone(noise), `{"jsonrpc":"2.0","id":1,"result":{"yes":1}}`),
		answered: func(said []answer) bool { return has(said, 1) || has(said, -1) || has(said, -2) },
	},
	{
		name: "subscribe --count", words: "subscribe jsonrpc+E m --count 2", asks: []string{`"m"`},
		says: append(slices.Clone(noise), `{"jsonrpc":"2.0","id":1,"result":"s"}`, `{"jsonrpc":"2.0","method":"m","params":{"subscription":"s","result":1}}`,
			`{"jsonrpc":"2.0","method":"m","params":{"subscription":"s","result":2}}`, `{"jsonrpc":"2.0","method":"m","params":{"subscription":"s","done":true}}`),
		answered: func(said []answer) bool { return items(said) >= 2 || ended(said) },
	},
	{
		name: "eval", words: "eval scomp+E 1", asks: []string{"handshake", `"eval"`},
		between:  []string{`{"jsonrpc":"2.0","id":1,"result":{"protocol":"0.1","sessionId":"s","bindings":[],"metadata":{}}}`},
		says:     append(slices.Clone(noise), `{"jsonrpc":"2.0","id":2,"result":{"value":3}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`),
		answered: func(said []answer) bool { return has(said, 2) },
	},
	{
		name: "job run", words: "job run ro+E attachment:create", asks: []string{"attachment.create"},
		says: append(slices.Clone(noise), `{"jsonrpc":"2.0","id":1,"result":{"status":"accepted","job":"j"}}`, `{"jsonrpc":"2.0","id":1,"result":{"name":"short"}}`,
			`{"jsonrpc":"2.0","method":"job.yield","resource":"job","verb":"yield","target":"j","result":{"status":"pending"}}`,
			`{"jsonrpc":"2.0","method":"job.return","resource":"job","verb":"return","target":"j","result":{"status":"done","n":1}}`),
		answered: func(said []answer) bool {
			return slices.ContainsFunc(said, func(a answer) bool {
				return a.Method == "job.return" || string(a.ID) == "1" && a.Result != nil && !bytes.Contains(a.Result, []byte("accepted"))
			})
		},
	},
}

// noise is what a peer may say in any way, none of which answers anything but by an error.
var noise = []string{
	`{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"no"}}`,
	`{"jsonrpc":"2.0","id":2,"error":{"code":7,"message":"no"}}`,
	`{"jsonrpc":"2.0","id":7,"result":"of another"}`,
	`{"jsonrpc":"2.0","id":"1","result":"of another"}`,
	`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
	`{"jsonrpc":"2.0","id":1}`,
	`{"jsonrpc":"2.0","id":2}`,
	`{"jsonrpc":"2.0","method":"n","params":{"subscription":"t","result":1}}`,
	`{"jsonrpc":"2.0","id":9,"method":"ask"}`,
	`{"type":"event"}`,
	`[]`,
	`[{"jsonrpc":"2.0"}]`,
	`not JSON`,
	``,
	"half", // ends its direction
	"gone", // hangs up
}

// An answer is one object of a whole line that was said.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Params struct {
		Subscription string          `json:"subscription"`
		Result       json.RawMessage `json:"result"`
		Done         bool            `json:"done"`
	} `json:"params"`
}

// has reports whether the request id has a result; -id: an error.
func has(said []answer, id int) bool {
	return slices.ContainsFunc(said, func(a answer) bool {
		if id < 0 { // an error without an id may be that of the only call
			return a.Error != nil && string(a.Error) != "null" && (string(a.ID) == fmt.Sprint(-id) || string(a.ID) == "null")
		}
		return string(a.ID) == fmt.Sprint(id) && a.Result != nil && a.Method == ""
	})
}

func items(said []answer) (n int) {
	for _, a := range said {
		if a.Params.Subscription == "s" && a.Params.Result != nil || string(a.ID) == "1" && a.Result != nil && string(a.Result) != `"s"` {
			n++
		}
	}
	return n
}

func ended(said []answer) bool {
	return slices.ContainsFunc(said, func(a answer) bool { return a.Params.Done })
}

// TestStatusZeroIsAnAnswer: whatever a peer says, and wherever it ends, status 0 says that
// all that was asked for was on the wire, whole.
func TestStatusZeroIsAnAnswer(t *testing.T) {
	t.Parallel()
	const seeds = 40
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			zeros := 0
			for seed := range uint64(seeds) {
				random := rand.New(rand.NewPCG(seed, 7))
				var script []string
				for range 1 + random.IntN(6) {
					line := w.says[random.IntN(len(w.says))]
					if n := len(line); n > 10 && random.IntN(8) == 0 {
						line = line[:1+random.IntN(n-1)] + []string{"…", ""}[random.IntN(2)] // the end, or broken
					}
					script = append(script, line)
				}
				status, said, stderr := answeredBy(t, w.words, w.stdin, w.asks, w.between, script)
				if status == 0 {
					zeros++
				}
				if status == 0 && !w.answered(said) {
					t.Errorf("seed %d: status 0 after %q\n%s", seed, script, stderr)
				}
				if status == 70 || status == 124 || status == 99 {
					t.Errorf("seed %d: status %d after %q\n%s", seed, status, script, stderr)
				}
			}
			if zeros == 0 {
				t.Error("nothing was ever answered")
			}
		})
	}
}

// answeredBy runs rpcx against a peer that plays script, and returns its status and what
// was whole on the wire.
func answeredBy(t *testing.T, words, stdin string, asks, between, script []string) (int, []answer, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var said []answer
	var playing sync.WaitGroup
	playing.Go(func() { said = playAnswers(l, asks, between, script) })
	cmd := exec.Command("rpcx", append(strings.Fields(strings.ReplaceAll(words, "E", "tcp://"+l.Addr().String())), "--timeout", patience.String())...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	l.Close()
	playing.Wait()
	return cmd.ProcessState.ExitCode(), said, stderr.String()
}

// playAnswers accepts one connection, reads what is asked, says script and hangs up when
// the other end has.
func playAnswers(l net.Listener, asks, between, script []string) (said []answer) {
	c, err := l.Accept()
	if err != nil {
		return nil
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	in := bufio.NewReader(c)
	for i, want := range asks {
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return nil
			}
			if strings.Contains(line, want) {
				break
			}
		}
		if i < len(between) {
			fmt.Fprintln(c, between[i])
		}
	}
	for _, line := range script {
		cut, isCut := strings.CutSuffix(line, "…")
		switch {
		case line == "half":
			c.(*net.TCPConn).CloseWrite()
			bufio.NewReader(c).WriteTo(discard{})
			return said
		case line == "gone":
			return said
		case isCut:
			fmt.Fprint(c, cut)
			return said
		}
		fmt.Fprintln(c, line)
		said = append(said, answersOf(line)...)
	}
	return said
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// answersOf returns the objects of a line, which may be an array of them.
func answersOf(line string) (all []answer) {
	var one answer
	if json.Unmarshal([]byte(line), &all) == nil {
		return all
	}
	if json.Unmarshal([]byte(line), &one) == nil {
		return []answer{one}
	}
	return nil
}
