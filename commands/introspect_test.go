package commands

import "testing"

// TestFlagsApplyToIntrospect checks which flags introspect endpoints accept.
func TestFlagsApplyToIntrospect(t *testing.T) {
	apply(t, `
call --refresh: introspect+ws://h/ ; ws://h/ demo: @s
call --cache: ; introspect+ws://h/
call --params-style=object: introspect+ws://h/
call --grace=1: introspect+ws://h/ ; ws://h/ scomp+ws://h/
subscribe --every=2: ; introspect+ws://h/
`)
}
