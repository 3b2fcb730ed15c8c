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
		if _, ok := framing.ByName(s.Transport.Framing); s.Transport.Framing != "" && !ok {
			t.Errorf("%s has the framing %q, which there is not", s.Name, s.Transport.Framing)
		}
		if c := s.AnswerCache; c != nil && (c.Key == nil || c.MaxAge == nil) {
			t.Errorf("%s: Key and MaxAge of an AnswerCache go together", s.Name)
		}
		if n := s.Names.Spelling; n != nil && (n.User == nil || n.Hook == nil || n.Wire == nil || n.Covers == nil) {
			t.Errorf("%s: the functions of a Spelling go together", s.Name)
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

// ForHooks and FromHook are inverse for a method that has both forms.
func TestHookNames(t *testing.T) {
	for _, s := range all.Specs() {
		for _, method := range []string{"plain", "order.get", "repo.issue.get"} {
			hook := s.Names.ForHooks(method)
			if back := s.Names.FromHook(hook); back != method {
				t.Errorf("%s: %s is %s for hooks, which is %s on the wire", s.Name, method, hook, back)
			}
		}
	}
}
