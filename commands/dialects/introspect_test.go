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

// Guidance lists what a module has, and becomes a call with corrected names.
func TestGuidance(t *testing.T) {
	for _, tt := range []struct{ args, extra, action, message, fix string }{
		{"a_tre", `{"module":"a","method":"tre","available_methods":["a_tree","a.list",""]}`, "", "no; it has tree, list", `rpcx call demo:x a_tree`},
		{"a_tre", `{"module":"a","method":"none","available_methods":["a_tree","list"]}`, "call_module_schema", "no; it has a_tree, list", ``},
		{"a_tre", `{"module":"a","method":"none","namespace":"a","available_methods":["1","2","3","4","5","6","7","8","9","10","11","12","13"]}`, "call_module_schema", "no; it has 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …", `rpcx describe demo:x a`},
		{"none_tre", `{"module":"none"}`, "call_service_schema", "no", `rpcx describe demo:x`},
		{"a_tree idd=1 lable=2", `{"method":"tree","suggested_method":"a.tree","method_schema":{"type":"object","properties":{"method":{"const":"tree"},"id":{"type":"string"},"label":{}}}}`, "try_method", "no; a_tree takes id (string), label (any)", `rpcx call demo:x a_tree {"id":"1","label":"2"}`},
		{"a_tree idd=1 ide=2", `{"method":"tree","suggested_method":"a.tree","method_schema":{"type":"object","properties":{"id":{},"label":{}}}}`, "try_method", "no; a_tree takes id (any), label (any)", ``},
		{"a_tree id=1", `{"method":"tree","suggested_method":"a.tree","method_schema":{"type":"object","properties":{"id":{}}}}`, "try_method", "no; a_tree takes id (any)", ``},
		{"b_tre", `{}`, "", "no", `rpcx call demo:x b_tree`},
	} {
		args := append([]string{"demo:x"}, strings.Fields(tt.args)...)
		l := &cmdline.CommandLine{Cmd: &cmdline.Command{}, Path: []string{"call"}, Args: args}
		ev := wire.Event{Kind: wire.Guidance, Message: "no", Action: tt.action, Extra: []byte(tt.extra)}
		_, shown := NewAdvice(l, args[1], &catalog.Catalog{Methods: []catalog.Method{{Name: "b_tree"}}}, &ev)
		if fix := strings.Join(ev.Fix, " "); shown.Message != tt.message || fix != tt.fix {
			t.Errorf("%s\n got %q, %q", tt.args, shown.Message, fix)
		}
	}
}
