package jq

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// A program prints the same with and without a plan, with full and partial decoding.
func TestRandomProgramsHaveTheSameOutput(t *testing.T) {
	parts, plans := 0, 0
	for seed := range uint64(4000) {
		if !testkit.Sampled(int(seed)) {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 1))
		src := randomProgram(r, 3)
		p := compiled(t, src, Options{Vars: map[string]json.RawMessage{"v": json.RawMessage(randomValue(r, 1))}})
		some, whole := *p, *p
		some.plan = nil
		whole.need, whole.asIs, whole.plan = nil, false, nil
		if p.need != nil {
			parts++
		}
		if p.plan != nil {
			plans++
		}
		for range 4 {
			in := randomValue(r, 4)
			if r.IntN(2) == 0 && len(in) < partFrom { // short values are always decoded whole
				in = `{"pad":"` + strings.Repeat("x", partFrom) + `",` + `"a":` + in + `,"b":` + randomValue(r, 3) + `}`
			}
			want := ran(t, &whole, in)
			for how, p := range map[string]*Program{"parts": &some, "plan": p} {
				if got := ran(t, p, in); got != want {
					t.Fatalf("seed %d: %s of %s, %s:\n got %s\nwant %s", seed, src, in, how, got, want)
				}
			}
			if got, want := judged(t, p, in), judged(t, &whole, in); got != want {
				t.Fatalf("seed %d: %s of %s: %s, want %s", seed, src, in, got, want)
			}
		}
	}
	if !testkit.Samples() && (parts < 1000 || plans < 800) {
		t.Errorf("only %d programs look at parts; %d have a plan", parts, plans)
	}
}

// judged returns the results of Truth and Holds.
func judged(t *testing.T, p *Program, in string) string {
	some, err := p.Truth(t.Context(), json.RawMessage(in))
	every, err2 := p.Holds(t.Context(), json.RawMessage(in))
	return fmt.Sprint(some, err, every, err2)
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

func randomPath(r *rand.Rand) string {
	path := ""
	for range 1 + r.IntN(3) {
		path += pick(r, ".a", ".b", ".c", ".[0]", ".[1]", `.["b"]`, ".[-1]")
	}
	return strings.ReplaceAll(path, ".[", "[") + pick(r, "", "", "", "?", "[]?")
}

func randomTerm(r *rand.Rand) string {
	if path := randomPath(r); r.IntN(4) > 0 {
		if path[0] == '[' {
			return "." + path
		}
		return path
	}
	return randomText(r)
}

func randomText(r *rand.Rand) string {
	return pick(r, "1", "1.5", "-2", "-0", "0.10", `"x"`, `"a\(.a)-\(.b)"`, `"\u00e9\n\u007f"`, "null", "true", "12345678901234567890", "1e2", "[]", "[.a]", "{}", "$v", ".")
}

func randomCondition(r *rand.Rand, depth int) string {
	if depth > 0 && r.IntN(3) == 0 {
		return "(" + randomCondition(r, depth-1) + pick(r, " and ", " or ") + randomCondition(r, depth-1) + ")"
	}
	return pick(r,
		randomTerm(r)+pick(r, " == ", " != ", " < ", " >= ")+randomTerm(r), randomTerm(r),
		randomTerm(r)+pick(r, " == ", " != ", " < ", " > ", " <= ", " >= ")+randomText(r),
		"("+randomTerm(r)+pick(r, " | not)", " | length > 1)", ` | type == "number")`, ` | startswith("a")?)`, ` | endswith("\n"))`, ` | contains("x"))`, ` | test("^[a-z]")?)`, " | type)"),
		`has("a")?`, `(.b | has("a"))`, "("+randomTerm(r)+" // "+randomTerm(r)+")")
}

func randomProgram(r *rand.Rand, depth int) string {
	if depth == 0 {
		return randomTerm(r)
	}
	inner := func() string { return randomProgram(r, r.IntN(depth)) }
	switch r.IntN(18) {
	case 11:
		return "(" + pick(r, ".[]", ".a[]", ".b[]?", ".a[0][]", ".a[].b", ".[][]", ".b[].a[]") + " | " + inner() + ")"
	case 8:
		return "(if " + randomCondition(r, 1) + " then " + inner() + pick(r, "", " elif .b then "+inner()) + " end)"
	case 9:
		return "[" + inner() + pick(r, "", ", .a", " | select(.)", ", empty", ", .a[]", ", .[]?", " | .[]?") + "]"
	case 10:
		return `"<\(` + inner() + `)\(` + randomTerm(r) + `|length)>"`
	case 0:
		return "{a: (" + inner() + "), z: " + randomTerm(r) + "}"
	case 1:
		return "[" + inner() + ", " + randomTerm(r) + "]"
	case 2:
		return "if " + randomCondition(r, 1) + " then " + inner() + " else " + inner() + " end"
	case 3:
		return "(" + inner() + ", " + pick(r, ".", "select(.b)", inner()) + ")"
	case 4:
		return "{a, b}"
	case 12, 13, 14:
		compared := func() string {
			return pick(r, ".a", ".b.a", ".", ".a[0]?", ".c") + pick(r, " == ", " != ", " < ", " > ", " <= ", " >= ") + pick(r, ".b", "1.5", "-2", `"x"`, "null", "true", "$v", ".c[1]")
		}
		return "(select(" + compared() + pick(r, " and ", " or ") + compared() + ") | {a, b: " + pick(r, ".a.b", ".b[0]", ".", "$v") + ", z: (" + compared() + ")})"
	case 5:
		return "(" + inner() + " | " + inner() + ")"
	}
	return "select(" + randomCondition(r, 2) + ")" + pick(r, "", " | "+inner(), " | ., "+inner(), ", .")
}

func randomValue(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(5) == 0 {
		return pick(r, "null", "true", "0", "-1.50", "1e2", "12345678901234567890", `"x"`, `"a\u00e9\n"`, `""`, "[]", "{}", "1.0", "1e400", "-7", "123456789012345678", "1234567890123456789",
			`"a\"\\\/\b"`, "\"\x7f\"", "\"\xff\"", `"\ud800"`, `"é€"`, `"xa"`, "{ }", "false")
	}
	var parts []string
	for range r.IntN(5) {
		val := randomValue(r, depth-1)
		parts = append(parts, val)
	}
	if r.IntN(3) == 0 {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	for i := range parts {
		parts[i] = fmt.Sprintf("%s%s%s", pick(r, `"a"`, `"a"`, `"b"`, `"b"`, `"c"`, `"\u0061"`, `"é"`, "\"\xff\"", `"z"`), pick(r, ":", " : "), parts[i])
	}
	return pick(r, "", " ") + "{" + strings.Join(parts, pick(r, ",", ",\n")) + "}"
}
