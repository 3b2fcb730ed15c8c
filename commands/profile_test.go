package commands

import (
	"slices"
	"testing"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire/profile"
)

// TestProfileKeysAreFlags checks that profiles have a key for each flag about connecting and answering, and no other keys.
func TestProfileKeysAreFlags(t *testing.T) {
	keys := profile.Keys()
	known := map[string]bool{"endpoint": true}
	tree(&env.Env{}).Walk(nil, func(_ []string, cmd *cmdline.Command) {
		for _, f := range cmd.Flags {
			name, group := f.Name, f.Group
			known[name] = true
			reaches := slices.Contains([]string{cmdline.GroupConnection, cmdline.GroupTime, cmdline.GroupHooks, cmdline.GroupScomp, cmdline.GroupScriptling}, group)
			if reaches && cmd.Name != "serve" && !slices.Contains(keys, name) && !slices.Contains(notInProfiles, name) {
				t.Errorf("%s --%s cannot be set in a profile: add it to keys of wire/profile and to the manual, or to notInProfiles", cmd.Name, name)
			}
		}
	})
	for _, key := range keys {
		if !known[key] {
			t.Errorf("the key %s of a profile is not a flag", key)
		}
	}
}

// notInProfiles are flags that only make sense for a single run.
var notInProfiles = []string{"resume", "use-login"}
