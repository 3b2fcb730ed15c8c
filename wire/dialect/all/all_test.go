package all_test

import (
	"testing"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/framing"
)

// Each row is complete, named once, and of a framing that there is.
func TestSpecs(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range all.Specs() {
		if s.Name == "" || seen[s.Name] {
			t.Errorf("the name %q is empty or stands twice", s.Name)
		}
		seen[s.Name] = true
		if s.NewServer == nil || s.NewCodec == nil || s.NewCodec(dialect.CodecOptions{}) == nil {
			t.Errorf("%s makes no codec or no server", s.Name)
		}
		if s.Shape == nil {
			t.Errorf("%s does not say how its messages are told apart", s.Name)
		}
		if _, ok := framing.ByName(s.Framing); s.Framing != "" && !ok {
			t.Errorf("%s has the framing %q, which there is not", s.Name, s.Framing)
		}
		if (s.AnswerKey == nil) != (s.AnswerMaxAge == nil) {
			t.Errorf("%s: AnswerKey and AnswerMaxAge go together", s.Name)
		}
		if (s.HookName == nil) != (s.WireName == nil) {
			t.Errorf("%s: HookName and WireName go together", s.Name)
		}
		if got, ok := all.Find(s.Name); !ok || got.Name != s.Name {
			t.Errorf("%s is not found by its name", s.Name)
		}
	}
	if !seen[all.Default()] {
		t.Errorf("the default %q is no row", all.Default())
	}
	if s := all.Named("nothing"); s.Name != "" || s.NewCodec != nil {
		t.Error("a name that is not in the table has properties")
	}
}

// HookName and WireName are inverse for a method that has both forms.
func TestHookNames(t *testing.T) {
	for _, s := range all.Specs() {
		for _, method := range []string{"plain", "order.get", "repo.issue.get"} {
			hook := s.ForHooks(method)
			back := hook
			if s.WireName != nil {
				back = s.WireName(hook)
			}
			if back != method {
				t.Errorf("%s: %s is %s for hooks, which is %s on the wire", s.Name, method, hook, back)
			}
		}
	}
}
