package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// callsThroughARecorder makes calls of rpcx to rpcx, with rpcx recording between them.
func callsThroughARecorder(s *soak, ctx context.Context) (string, error) {
	server, end, err := s.listen(ctx, "serve, calls", "serve", "tcp://127.0.0.1:0", "--on", "add=jq:.[0]+.[1]")
	if err != nil {
		return "", err
	}
	defer end()
	tape := filepath.Join(s.folder, "calls.tape")
	between, stop, err := s.listen(ctx, "record", "record", "tcp://127.0.0.1:0", "--to", server, "-o", tape)
	if err != nil {
		return "", err
	}
	err = s.batch(ctx, between)
	stop()
	if err != nil {
		return "", err
	}
	taped, err := messages(tape)
	if err != nil {
		return "", err
	}
	if taped != 2*s.calls {
		return "", fmt.Errorf("%d messages are on the tape, want %d", taped, 2*s.calls)
	}
	return fmt.Sprintf("%d calls, all answered, all %d messages on the tape", s.calls, taped), nil
}

// batch makes the calls and looks at every answer.
func (s *soak) batch(ctx context.Context, at string) error {
	cmd := s.command(ctx, "call", at, "--batch", "--jobs", "64")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w := s.watch("call --batch", cmd.Process.Pid)
	go func() {
		defer in.Close()
		b := bufio.NewWriterSize(in, 64<<10)
		for i := range s.calls {
			if _, err := fmt.Fprintf(b, `{"id":%d,"method":"add","params":[%d,1]}`+"\n", i, i); err != nil {
				return
			}
		}
		_ = b.Flush()
	}()
	seen := make([]bool, s.calls)
	n := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var answer struct{ ID, Result *int }
		err := json.Unmarshal(lines.Bytes(), &answer)
		if err != nil || answer.ID == nil || answer.Result == nil || *answer.Result != *answer.ID+1 || seen[*answer.ID] {
			return fmt.Errorf("an answer is %q", lines.Text())
		}
		seen[*answer.ID] = true
		n++
	}
	w.stop()
	if err := cmd.Wait(); err != nil {
		return err
	}
	if n != s.calls {
		return fmt.Errorf("%d of %d answers", n, s.calls)
	}
	return nil
}

// messages counts those of a tape, each line of which must be JSON.
func messages(tape string) (n int, err error) {
	f, err := os.Open(tape)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if !json.Valid(lines.Bytes()) {
			return n, fmt.Errorf("a line of the tape is %q", lines.Text())
		}
		if bytes.Contains(lines.Bytes(), []byte(`"msg":`)) {
			n++
		}
	}
	return n, lines.Err()
}

// connections dials one rpcx again and again, eight at a time, each for one call.
func connections(s *soak, ctx context.Context) (string, error) {
	at, end, err := s.listen(ctx, "serve, connections", "serve", "tcp://127.0.0.1:0", "--on", "add=jq:.[0]+.[1]")
	if err != nil {
		return "", err
	}
	defer end()
	address := strings.TrimPrefix(at, "tcp://")
	var left atomic.Int64
	left.Store(int64(s.connections))
	failed := make(chan error, 8)
	var wg sync.WaitGroup
	for range cap(failed) {
		wg.Go(func() {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				if err := oneCall(address); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	for f := range failed {
		err = errors.Join(err, f)
	}
	if err := errors.Join(err, ctx.Err()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d connections, each with its answer", s.connections), nil
}

func oneCall(address string) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, `{"jsonrpc":"2.0","id":1,"method":"add","params":[20,1]}`+"\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err
	}
	if line != `{"jsonrpc":"2.0","id":1,"result":21}`+"\n" {
		return fmt.Errorf("the answer is %q", line)
	}
	return nil
}
