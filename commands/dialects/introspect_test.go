package dialects

import (
	"strings"
	"testing"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/catalog"
)

// TestAdvice checks that guidance becomes a command line without words that could be flags or escape sequences.
func TestAdvice(t *testing.T) {
	l := &cmdline.CommandLine{Cmd: &cmdline.Command{}, Path: []string{"call"}, Args: []string{"demo:x", "storage_tre_create"}}
	for suggested, want := range map[string]string{"tree_create": "rpcx call demo:x storage_tree_create", "-x\u001b": ""} {
		ev := wire.Event{Kind: wire.Guidance, Message: "no", Topic: "method_not_found", Extra: []byte(`{"suggested_method":"` + suggested + `","module":"storage"}`)}
		if strings.HasPrefix(suggested, "-") {
			ev.Extra = []byte(`{"suggested_method":"\u001b[2J x","module":"storage"}`)
		}
		a, shown := NewAdvice(l, l.Args[1], &catalog.Catalog{}, &ev)
		if got := strings.Join(ev.Fix, " "); got != want || shown.Message != "no" {
			t.Errorf("%s: the fix is %q, the message %q", suggested, got, shown.Message)
		}
		f := a.Explain(&wire.Fault{Kind: wire.RPCError})
		if strings.Join(f.Fix, " ") != want || a.Unheeded() != nil && want != "" {
			t.Errorf("%s: Explain returned the fix %q", suggested, f.Fix)
		}
	}
}
