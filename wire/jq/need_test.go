package jq

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// rpcx decodes only these parts of an input and of the variable $v.
func TestNeed(t *testing.T) {
	all := "all"
	for src, want := range map[string][2]string{
		`.id == $v.id`:                       {"id", "id"},
		`.[0] == $v[1]`:                      {"0", all},
		`.a.b // .c | length`:                {"a.b c", ""},
		`select(.a.b > 1) | {x: .c[0].d, e}`: {"a.b c.0.d e", ""},
		`select(.a) | select(.b == .c)`:      {"a b c", ""},
		`(select(.a), .) | .b`:               {all, ""},
		`select(.a), .b, .`:                  {"a b", ""},
		`[select(.a)]`:                       {all, ""},
		`select(.a) == .b`:                   {all, ""},
		`select(.a).b`:                       {all, ""},
		`select(.a) as $x | $x`:              {all, ""},
		`def select(f): 1; select(.a)`:       {all, ""},
		`.x + 1 | . + $v`:                    {"x", all},
		`if .fail then {code: 1, message: .why} else empty end`: {"fail why", ""},
		`if .fail then . else empty end`:                        {all, ""},
		`if .fail then 1 end`:                                   {all, ""},
		`{a, b: .c, "d": 1, (.e): 2, $v}`:                       {"a c e", all},
		`{"x\(.b)"}`:                                            {all, ""},
		`"\(.a) \($v.b)"`:                                       {"a", "b"},
		`[.a[], .b[.c]]`:                                        {"a b c", ""},
		`has("a") and .b`:                                       {"a b", ""},
		`any(.list[]; . == "x")`:                                {"list", ""},
		`.a as $x | $x + .b`:                                    {"a b", ""},
		`.a as [$x] | $x`:                                       {all, ""},
		`def f: .b; .a + f`:                                     {all, ""},
		`.a = 1`:                                                {all, ""},
		`[..]`:                                                  {all, ""},
		`[.[]]`:                                                 {all, ""},
		`keys`:                                                  {all, ""},
		`-(.a)`:                                                 {"a", ""},
		`@base64 "\(.a)"`:                                       {"a", ""},
		`[.a, @json]`:                                           {all, ""},
		`try error(.a) catch .`:                                 {all, ""},
		`try (.a | error) catch .b`:                             {"a", ""},
		`reduce .a[] as $x (0; . + $x)`:                         {all, ""},
		`[$v | .a]`:                                             {"", all},
		`[$value]`:                                              {"", ""},
	} {
		p := compiled(t, src, Options{Declared: []string{"v", "value"}})
		got := [2]string{said(p.need), ""}
		for _, v := range p.vars {
			if v.name == "v" && strings.Contains(strings.ReplaceAll(src, "$value", ""), "$v") {
				got[1] = said(v.need)
			}
		}
		if p.path != nil {
			got[0] = ""
		}
		if got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

func said(n need) string {
	if n == nil {
		return "all"
	}
	var keys []string
	for _, path := range n {
		var steps []string
		for _, s := range path {
			if s.key != nil {
				steps = append(steps, string(s.key))
			} else {
				steps = append(steps, fmt.Sprint(s.index))
			}
		}
		keys = append(keys, strings.Join(steps, "."))
	}
	return strings.Join(keys, " ")
}

// Partial decoding does not change the results.
func TestNeedSameOutputs(t *testing.T) {
	long := `"` + strings.Repeat("x", partFrom) + `"`
	for _, in := range []string{
		`{"id":1,"a":{"z":1,"b":[1,{"y":2,"c":3}]},"b":1.50,"c":0,"list":["x"],"fail":null,"":5,"pad":` + long + `}`,
		`{"fail":{"k":[]},"a":[3,4],"why":"no","id":7,"id":1,"pad":` + long + `,"\u0061":9}`,
		`{"a":{"b":1},"c":nonsense,"pad":` + long + `}`, `{"a":1,"pad":` + long + `}}`, `{"a":1,"pad":` + long, `[7,{"a":1},[2],` + long + `]`, `[]`, `null`, `7`, `{}`, long, `{"pad":` + long + `}`,
	} {
		for _, src := range []string{
			`.id == $v.id`, `.[0] == $v.id`, `if .fail then {code: 1, message: .why, at: .fail} else .a end`, `{a, c: .c, x: .list}`, `[.a[]?, .b]`,
			`has("a") and .b`, `any(.list[]?; . == "x")`, `.a as $x | [$x, .b]`, `[.a, .nosuch, ."id"]`, `"\(.a)"`, `[.[1], .[0]]`, `.[-1] + 1`, `[.a.b[1].c?]`,
			`try .a.b catch "no"`, `select(.a)`, `select(.nosuch | not)`, `select(.b > 1) | ., .a`, `select(.id == 7) | select(.c | not)`, `select(.a.b[0] == 1) | {x: .a.b[1].c, b}`,
			`[.a.z, .a.b[1].y, .b]`, `.a.z, .a`, `select(.a.z == 1) | .a.nosuch.deeper`, `.a.b.c`, `select(.a.z.y.x)`, `[.a.b[-1].c, .a.b[1]?]`, `.a[0].x`, `select(.[0] == 7)`, `select(.[0])`, `[has(0)]`, `(.a // .b), $v.a`,
			`{x: (if .nosuch then 1 elif .a then 2 elif .pad then 3 end)}`, `{x: (if .nosuch? then 1 elif .fail? then 2 elif .why? then 3 else 4 end)}`, `[(if .c? then . else .pad? end) == 1]`,
		} {
			p := compiled(t, src, Options{Declared: []string{"v"}})
			whole := *p
			whole.need, whole.plan, whole.vars = nil, nil, []declared{{"v", nil}}
			if len(p.vars) == 0 {
				whole.vars = nil
			}
			if got, want := ran(t, p, in), ran(t, &whole, in); got != want {
				t.Errorf("%s of %s: %s, want %s", src, in, got, want)
			}
		}
	}
}

func ran(t *testing.T, p *Program, in string) (out string) {
	vals := func(string) json.RawMessage { return json.RawMessage(in) }
	err := p.RunWith(t.Context(), json.RawMessage(in), vals, func(v json.RawMessage) (bool, error) {
		out += string(v) + " "
		return true, nil
	})
	return fmt.Sprint(out, err)
}
