package hook

import (
	"testing"

	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

func BenchmarkAnswer(b *testing.B) {
	for _, spec := range []string{"m=echo 1", "m=co:while read -r l; do i=$((i+1)); echo \"{\\\"id\\\":$i,\\\"result\\\":1}\"; done", "m=jq:{a: .x}", "m=json:1"} {
		e, err := Parse(spec)
		testkit.OK(b, err)
		t, err := NewTable(Options{}, e)
		testkit.OK(b, err)
		b.Run(string(e.Answer.Kind), func(b *testing.B) {
			bound := t.Bind(Binding{})
			defer bound.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bound.Answer(b.Context(), dialect.Request{Method: "m", Params: raw(`{"x":1}`)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
