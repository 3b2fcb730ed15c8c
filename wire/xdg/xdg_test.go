package xdg

import (
	"path/filepath"
	"testing"

	"rpcx/wire/testkit"
)

// TestFolder checks that a directory is the absolute path in its variable, or else below the home directory. Relative paths are ignored.
func TestFolder(t *testing.T) {
	conf, home := t.TempDir(), t.TempDir()
	for _, c := range []struct{ variable, home, want string }{
		{conf, home, filepath.Join(conf, "rpcx")},
		{"", home, filepath.Join(home, ".config", "rpcx")},
		{"conf", home, filepath.Join(home, ".config", "rpcx")},
		{conf, "", filepath.Join(conf, "rpcx")},
		{"", "", ""},
		{"conf", "ann", ""},
	} {
		setHome(t, c.home)
		t.Setenv("XDG_CONFIG_HOME", c.variable)
		testkit.Expect(t, "XDG_CONFIG_HOME="+c.variable, Config(), c.want)
	}
}

func TestStateFile(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	testkit.Expect(t, "the file", StateFile("history"), filepath.Join(state, "rpcx", "history"))
	t.Setenv("XDG_STATE_HOME", "")
	setHome(t, "")
	testkit.Expect(t, "the file", StateFile("history"), "")
}

func setHome(t *testing.T, dir string) {
	for _, variable := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(variable, dir)
	}
}
