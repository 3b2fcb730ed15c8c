package transcript

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/tape/match"
)

// A long tape stays in its file: each message takes some bytes, whatever its size.
func TestMemory(t *testing.T) {
	const messages = 1_000_000
	name := filepath.Join(t.TempDir(), "long.tape")
	var b bytes.Buffer
	b.WriteString(`{"tape":1}` + "\n" + `{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"watch"}}` + "\n")
	for i := range messages {
		fmt.Fprintf(&b, `{"t":%d,"dir":"recv","msg":{"jsonrpc":"2.0","method":"item","params":{"subscription":"s1","result":{"n":%d,"text":"0123456789"}}}}`+"\n", i, i)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	size := b.Len()
	b = bytes.Buffer{}
	before := heap()
	tr, err := Open(name, nil, func(string) (dialect.Shape, error) { return jsonrpc.Shape(jsonrpc.V2), nil },
		func(s dialect.Shape) *match.Rules { return match.NewRules(s, nil) })
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	each := float64(heap()-before) / messages
	if each > 52 || size < keepWhole {
		t.Errorf("%.0f bytes a message, of %d", each, size/messages)
	}
	msg, err := tr.Tracks[0].Message(messages)
	if want := fmt.Sprintf(`"n":%d,`, messages-1); err != nil || !bytes.Contains(msg, []byte(want)) {
		t.Errorf("%s, %v", msg, err)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
