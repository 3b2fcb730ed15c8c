package commands

import (
	"slices"
	"testing"

	"github.com/urfave/cli/v3"

	"rpcx/wire/profile"
)

// TestProfileKeysAreFlags: what a profile may have are flags of call, and the
// flags that say how a peer is reached and answered are in a profile.
func TestProfileKeysAreFlags(t *testing.T) {
	keys := profile.Keys()
	known := map[string]bool{"endpoint": true}
	for _, f := range callCommand(&app{}).Flags {
		name, group := f.Names()[0], ""
		if c, ok := f.(cli.CategorizableFlag); ok {
			group = c.GetCategory()
		}
		known[name] = true
		if (group == groupConnection || group == groupTime || group == groupHooks) && !slices.Contains(keys, name) {
			t.Errorf("--%s cannot be set in a profile", name)
		}
	}
	for _, key := range keys {
		if !known[key] {
			t.Errorf("the key %s of a profile is no flag", key)
		}
	}
}
