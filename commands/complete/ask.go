package complete

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"time"

	"rpcx/wire/cache"
	"rpcx/wire/session"
)

// askVariable is the environment variable that allows a connection if its value is "ask".
const askVariable = "RPCX_COMPLETE"

// askLimit bounds the wait for a peer's catalog during completion.
const askLimit = 2 * time.Second

// forwardedFlags are the flags of a line that describe how to reach its peer.
var forwardedFlags = []string{"dialect", "header", "cacert", "cert", "key", "insecure", "subprotocol", "proxy", "resolve"}

// ask runs `rpcx describe` for the peer, which caches the catalog, and returns the catalog. It returns nil if that
// fails or is not allowed. It never starts commands, because the typed text may be incomplete. So it ignores endpoints
// of exec: and ipc:.
func (l line) ask(typed string) []cache.Outline {
	if os.Getenv(askVariable) != "ask" {
		return nil
	}
	e, err := session.ParseEndpoint(typed, l.dialect)
	if err != nil || e.Reversed != "" || e.Tape != "" || e.Address.Command != nil || slices.Contains([]string{"ipc", "stdio"}, e.Address.Scheme) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	words := append([]string{"describe", "--timeout", askLimit.String()}, l.reach...)
	cmd := exec.CommandContext(ctx, self, append(words, "--", typed)...)
	cmd.Env = append(os.Environ(), cache.HistoryVariable+"=off")
	cmd.WaitDelay = 100 * time.Millisecond
	if cmd.Run() != nil {
		return nil
	}
	return cache.KeptOutlines(typed, l.dialect)
}
