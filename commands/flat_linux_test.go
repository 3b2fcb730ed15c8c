package commands

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rpcx/wire/testkit"
)

// TestMemoryIsFlat checks that a stream of 100,000 events takes as much memory as one of 10,000, with a jq program running on each event.
func TestMemoryIsFlat(t *testing.T) {
	few := peakOf(t, 10_000)
	if testkit.Samples() {
		return
	}
	many := peakOf(t, 100_000)
	if limit := few + 32<<20; many > limit {
		t.Errorf("%d MiB for 100,000 events of 1 KiB, %d for 10,000", many>>20, few>>20)
	}
}

// peakOf returns the peak memory of rpcx in a subscription to n events of 1 KiB.
func peakOf(t *testing.T, n int) int64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	testkit.OK(t, err)
	defer l.Close()
	go sendEvents(l, n)
	cmd := exec.Command("rpcx", "subscribe", "unix:"+path, "ticks", "--count", fmt.Sprint(n), "--jq", ".n")
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		t.Fatal(err, problem.String())
	}
	if lines := bytes.Count(out.Bytes(), []byte("\n")); lines != n || !bytes.HasSuffix(out.Bytes(), fmt.Appendf(nil, "\n%d\n", n)) {
		t.Fatalf("%d lines for %d events", lines, n)
	}
	return int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10
}

// sendEvents answers one subscription with n events and the end of the stream.
func sendEvents(l net.Listener, n int) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	in, out := bufio.NewReader(c), bufio.NewWriter(c)
	if _, err := in.ReadString('\n'); err != nil {
		return
	}
	fmt.Fprintln(out, `{"jsonrpc":"2.0","id":1,"result":9007199254740993}`)
	pad := strings.Repeat("x", 900)
	for i := range n {
		fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"ticks","params":{"subscription":9007199254740993,"result":{"n":%d,"pad":%q}}}`+"\n", i+1, pad)
	}
	out.Flush()
	if _, err := in.ReadString('\n'); err != nil { // rpcx has closed
		return
	}
	fmt.Fprintln(out, `{"jsonrpc":"2.0","id":2,"result":true}`)
	out.Flush()
	_, _ = in.ReadString('\n') // until rpcx closes
}
