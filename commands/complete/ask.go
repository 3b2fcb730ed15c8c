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

// askVariable is the environment variable that allows a connection, where it is "ask".
const askVariable = "RPCX_COMPLETE"

// askLimit bounds how long a peer is asked for what it offers: somebody waits for a key.
const askLimit = 2 * time.Second

// forwardedFlags are the flags of a line that say how its peer is reached.
var forwardedFlags = []string{"dialect", "header", "cacert", "cert", "key", "insecure", "subprotocol", "proxy", "resolve"}

// ask has the peer described by a process of ours, as by `rpcx describe`, which keeps what is offered, and returns that;
// nil where it is not allowed, or the peer does not say. No command is ever started for it: what is typed may not be what
// will be meant, so that endpoints which are one (exec:, ipc:) are not asked.
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
