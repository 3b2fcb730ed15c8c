package session

import (
	"strings"
	"testing"

	"rpcx/wire"
)

// "@" alone is the endpoint of the parent process; an unknown name is an error.
func TestParseEndpointNames(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("RPCX_ENDPOINT", "conversation:/run/x#h3")
	e, err := ParseEndpoint("@", "")
	if err != nil || e.Socket != "/run/x" || e.Hook != "h3" || e.String() != "conversation:/run/x" {
		t.Errorf("@: %v, %v", e, err)
	}
	t.Setenv("RPCX_ENDPOINT", "")
	for text, want := range map[string]string{"@": "RPCX_ENDPOINT", "@name": "name"} {
		_, err := ParseEndpoint(text, "")
		f := wire.AsFault(err)
		if f == nil || (f.Kind != wire.Usage && f.Kind != wire.Unreachable) || !strings.Contains(f.Message, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
