package transcript

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rpcx/wire/testkit"
)

// A long tape is not loaded into memory. Its index takes at most 150 bytes per message.
func TestMemory(t *testing.T) {
	testkit.RaceSkips(t)
	const few, many = 50_000, 200_000
	a, b := loaded(t, few), loaded(t, many)
	if each := float64(b-a) / (many - few); each > 150 {
		t.Errorf("%.1f bytes a message: %d KiB for %d, %d for %d", each, a>>10, few, b>>10, many)
	}
}

// loaded returns the memory that a tape of so many messages takes.
func loaded(t *testing.T, messages int) int64 {
	t.Helper()
	name := filepath.Join(t.TempDir(), "long.tape")
	var b bytes.Buffer
	b.WriteString(`{"tape":1}` + "\n" + `{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"watch"}}` + "\n")
	for i := range messages {
		fmt.Fprintf(&b, `{"t":%d,"dir":"recv","msg":{"jsonrpc":"2.0","method":"item","params":{"subscription":"s1","result":{"n":%d,"text":"0123456789"}}}}`+"\n", i, i)
	}
	testkit.OK(t, os.WriteFile(name, b.Bytes(), 0o600))
	b = bytes.Buffer{}
	before := testkit.Heap()
	f, err := os.Open(name)
	testkit.OK(t, err)
	defer f.Close()
	tr, err := Read(f, name, rules)
	testkit.OK(t, err)
	defer tr.Close()
	used := testkit.Heap() - before
	msg, err := tr.Tracks[0].Message(messages)
	if want := fmt.Sprintf(`"n":%d,`, messages-1); err != nil || !bytes.Contains(msg, []byte(want)) {
		t.Errorf("%s, %v", msg, err)
	}
	return used
}
