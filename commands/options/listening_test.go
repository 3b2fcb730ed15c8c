package options

import (
	"os"
	"path/filepath"
	"testing"

	"rpcx/wire"
)

// TestToken: a token comes from a file, never from the command line.
func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(" secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readSecret("--token", "@"+file); got != "secret" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := readSecret("--token", ""); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"secret", "@" + os.DevNull, "@" + file + ".gone"} {
		if _, err := readSecret("--token", bad); wire.AsFault(err) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
