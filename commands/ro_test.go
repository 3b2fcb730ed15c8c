package commands

import (
	"slices"
	"testing"
)

func TestFlagsApplyToRO(t *testing.T) {
	apply(t, `
call --refresh: ro+tcp://h:1 ;
call --cache: ro+tcp://h:1 demo:ro ;
call --set=a=b: ro+tcp://h:1 ;
connect --set=a=b: ; ro+tcp://h:1
call --save=d: ; ro+tcp://h:1
job list --kind=eval: ; ro+tcp://h:1
`)
}

// TestHelpOfAnROEndpoint checks that help lists the dialect's flags for its endpoints only.
func TestHelpOfAnROEndpoint(t *testing.T) {
	plain, ro := listed(t, "call", "ws://h/", "--help"), listed(t, "call", "ro+ws://h/", "--help")
	for _, name := range []string{"set", "cache", "no-cache"} {
		if slices.Contains(plain, name) || !slices.Contains(ro, name) {
			t.Errorf("--%s: listed for ws %t, for ro+ws %t", name, slices.Contains(plain, name), slices.Contains(ro, name))
		}
	}
}
