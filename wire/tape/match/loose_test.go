package match

import (
	"testing"

	"rpcx/wire/dialect"
)

// Values that are equal for Compare have the same Loose form.
func TestLoose(t *testing.T) {
	r := NewRules(dialect.Shape{
		Method: "method", ID: "id",
		MadeUp: dialect.Places("/id", "/params/token"), Varies: dialect.Places("/params/client/**"),
	}, nil)
	same := [][]string{
		{
			`{"id":1,"method":"a","params":{"n":1.0,"at":"x","createdAt":"2026-01-01T00:00:00Z","tookMs":3,"token":"t1","client":{"v":1}}}`,
			`{"method":"a","id":"z","params":{"tookMs":77,"n":1e0,"at":"\u0078","createdAt":"2031-01-01T00:00:00Z","token":"t2"}}`,
			`{"method":"a","id":2,"params":{"n":1,"at":"x","createdAt":"Mon, 02 Jan 2006 15:04:05 MST","tookMs":0,"token":"t3","client":5}}`,
		},
		{`{"method":"a","params":["2026-01-01T00:00:00Z",{"elapsed":"3s"}]}`, `{"method":"a","params":["2027-01-01T00:00:00Z",{"elapsed":"45 s"}]}`},
		{`{"method":"a","params":["2026-01-01",{"elapsed":"long"}]}`},
		{`{"method":"a","params":{"n":2}}`},
		{`{"method":"a","params":{"time":"x"}}`},
	}
	for i, all := range same {
		for _, a := range all {
			for j, others := range same {
				for _, b := range others {
					equal := len(r.Compare("a", []byte(a), []byte(b), &Values{})) == 0
					if loose := r.Loose("a", []byte(a)) == r.Loose("a", []byte(b)); loose != equal || equal != (i == j) {
						t.Errorf("equal: %v, one hash: %v:\n%s\n%s", equal, loose, a, b)
					}
				}
			}
		}
	}
}
