package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// For root, files of other users are not trusted.
func TestTrustedByRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	testkit.OK(t, os.Mkdir(filepath.Join(dir, "theirs"), 0o755))
	for _, name := range []string{"a", "theirs/b"} {
		testkit.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	for _, name := range []string{"a", "theirs", "theirs/b"} {
		testkit.OK(t, os.Chown(filepath.Join(dir, name), 12345, -1))
	}
	if err := Check("hooks", filepath.Join(dir, "a")); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("not refused: %v", err)
	}
	for mode, trusted := range map[os.FileMode]bool{0o755: true, 0o775: false, 0o757: false} {
		testkit.OK(t, os.Chmod(filepath.Join(dir, "theirs"), mode))
		testkit.Expect(t, "trusted in its owner's folder with mode "+mode.String(), Check("hooks", filepath.Join(dir, "theirs/b")) == nil, trusted)
	}
}

func TestOthersCanWrite(t *testing.T) {
	at := filepath.Join(t.TempDir(), "f")
	testkit.OK(t, os.WriteFile(at, nil, 0o600))
	testkit.OK(t, Check("hooks", at))
	testkit.OK(t, os.Chmod(at, 0o622))
	if err := Check("hooks", at); err == nil || !strings.Contains(err.Error(), "other users can write to it") {
		t.Errorf("not refused: %v", err)
	}
}
