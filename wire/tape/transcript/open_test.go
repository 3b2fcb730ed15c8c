package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"rpcx/wire"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/tape/match"
)

func rules(string) (*match.Rules, error) { return match.NewRules(jsonrpc.Shape(jsonrpc.V2), nil), nil }

// A missing or unreadable tape is a fault that contains its name.
func TestUnreadableTapes(t *testing.T) {
	open := func(name, stdin string) error {
		tr, err := Open(name, iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(stdin))), rules)
		if err == nil {
			err = errors.Join(tr.Close(), errors.New("it was read"))
		}
		return err
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, stdin string
		kind        wire.FaultKind
		want        string
		only        string
	}{
		{"no.tape", "", wire.Usage, "cannot read the tape no.tape: no such file or directory", ""},
		{".", "", wire.Usage, "cannot read the tape .: it is a directory", ""},
		{empty, "", wire.Usage, "the tape " + empty + ", line 1: it is empty: not even a header", ""},
		{"/proc/self/mem", "", wire.Usage, "cannot read the tape /proc/self/mem: input/output error", "linux"},
		{"-", `{"tape":1}`, wire.IO, "reading a tape from stdin: timeout", ""},
	} {
		if c.only != "" && c.only != runtime.GOOS {
			continue
		}
		if f := wire.AsFault(open(c.name, c.stdin)); f == nil || f.Kind != c.kind || f.Message != c.want {
			t.Errorf("%s: %v, want %s", c.name, f, c.want)
		}
	}
}

// A tape that exceeds the memory limit is rejected for the same reasons as others.
func TestLongTapesThatAreBad(t *testing.T) {
	long := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(long, []byte("garbage\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(long, keepWhole+1); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(long)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, name := range []string{long, "-"} {
		tr, err := Open(name, file, rules)
		if f := wire.AsFault(err); tr != nil || f == nil || !strings.HasPrefix(f.Message, "the tape "+name+", line 1: no header") {
			t.Errorf("%v, %v", tr, err)
		}
	}
}
