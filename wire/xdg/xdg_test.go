package xdg

import (
	"path/filepath"
	"testing"
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
		if got := Config(); got != c.want {
			t.Errorf("XDG_CONFIG_HOME=%q, home %q: %q, want %q", c.variable, c.home, got, c.want)
		}
	}
}

func TestStateFile(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	if got := StateFile("history"); got != filepath.Join(state, "rpcx", "history") {
		t.Error(got)
	}
	t.Setenv("XDG_STATE_HOME", "")
	setHome(t, "")
	if got := StateFile("history"); got != "" {
		t.Error(got)
	}
}

func setHome(t *testing.T, dir string) {
	for _, variable := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(variable, dir)
	}
}
