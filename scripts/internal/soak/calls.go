//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// calls makes calls from one rpcx to another.
func calls(s *soak, ctx context.Context) (string, error) {
	if err := s.batch(ctx, s.server); err != nil {
		return "", err
	}
	s.wants(tally{opened: 1, closed: 1, sent: s.calls, received: s.calls})
	return fmt.Sprintf("%d calls, each with a response", s.calls), nil
}

// batch makes s.calls calls and checks each response.
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
		p := s.pace(s.calls)
		for i := range s.calls {
			if p.rest(ctx, i, b.Flush) != nil {
				return
			}
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
			return fmt.Errorf("a response is %q", lines.Text())
		}
		seen[*answer.ID] = true
		n++
	}
	w.stop()
	if err := cmd.Wait(); err != nil {
		return err
	}
	if n != s.calls {
		return fmt.Errorf("%d of %d responses", n, s.calls)
	}
	return nil
}

// connections opens connections and makes one call on each. At most eight connections are open at a time.
func connections(s *soak, ctx context.Context) (string, error) {
	address := strings.TrimPrefix(s.server, "tcp://")
	var next atomic.Int64
	failed := make([]error, 8)
	p := s.pace(s.connections)
	var wg sync.WaitGroup
	for w := range failed {
		wg.Go(func() {
			for failed[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= s.connections {
					return
				}
				failed[w] = p.rest(ctx, i, func() error { return nil })
				if failed[w] == nil {
					failed[w] = oneCall(address)
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		return "", err
	}
	s.wants(tally{s.connections, s.connections, s.connections, s.connections})
	return fmt.Sprintf("%d connections, each with a response", s.connections), nil
}

func oneCall(address string) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute)) // a missing response also causes an error
	if _, err := io.WriteString(c, `{"jsonrpc":"2.0","id":1,"method":"add","params":[20,1]}`+"\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err
	}
	if line != `{"jsonrpc":"2.0","id":1,"result":21}`+"\n" {
		return fmt.Errorf("the response is %q", line)
	}
	return nil
}
