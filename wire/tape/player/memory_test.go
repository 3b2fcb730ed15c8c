package player

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"rpcx/wire/tape/transcript"
)

// A tape with a million messages stays in its file: whoever plays it as server keeps an
// index of it, some bytes a message.
func TestMemory(t *testing.T) {
	const calls = 500_000
	name := filepath.Join(t.TempDir(), "long.tape")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, `{"tape":1}`)
	for i := range calls {
		fmt.Fprintf(w, `{"dir":"send","msg":{"jsonrpc":"2.0","id":%d,"method":"get","params":[%d]}}`+"\n", i, i)
		fmt.Fprintf(w, `{"dir":"recv","msg":{"jsonrpc":"2.0","id":%d,"result":%d}}`+"\n", i, i)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	tr, err := transcript.Open(name, nil, shapes, rules)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	s, err := NewServer(tr, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if each := float64(heap()-before) / (2 * calls); each > 64 {
		t.Errorf("%.0f bytes a message", each)
	}
	runtime.KeepAlive(s)
}
