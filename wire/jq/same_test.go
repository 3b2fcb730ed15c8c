package jq

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A program that only selects, compares and builds says the same of a value, byte for byte,
// whether all of that is decoded or only what the program looks at.
func TestRandomProgramsSayTheSame(t *testing.T) {
	parts := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		src := randomProgram(r, 3)
		p, err := Compile(src, Options{})
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if p.need != nil {
			parts++
		}
		whole := *p
		whole.need, whole.asIs = nil, false
		for range 4 {
			in := randomValue(r, 4)
			if len(in) < partFrom { // a short value is decoded whole
				in = `{"pad":"` + strings.Repeat("x", partFrom) + `",` + `"a":` + in + `,"b":` + randomValue(r, 3) + `}`
			}
			if got, want := ran(t, p, in), ran(t, &whole, in); got != want {
				t.Fatalf("seed %d: %s of %s:\n got %s\nwant %s", seed, src, in, got, want)
			}
		}
	}
	if parts < 1000 {
		t.Errorf("only %d programs look at parts", parts)
	}
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
	return pick(r, "1", "1.5", `"x"`, "null", "true", "12345678901234567890")
}

func randomCondition(r *rand.Rand, depth int) string {
	if depth > 0 && r.IntN(3) == 0 {
		return "(" + randomCondition(r, depth-1) + pick(r, " and ", " or ") + randomCondition(r, depth-1) + ")"
	}
	return pick(r,
		randomTerm(r)+pick(r, " == ", " != ", " < ", " >= ")+randomTerm(r), randomTerm(r),
		"("+randomTerm(r)+" | not)", `has("a")?`, "("+randomTerm(r)+" // "+randomTerm(r)+")")
}

func randomProgram(r *rand.Rand, depth int) string {
	if depth == 0 {
		return randomTerm(r)
	}
	inner := func() string { return randomProgram(r, r.IntN(depth)) }
	switch r.IntN(8) {
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
	case 5:
		return "(" + inner() + " | " + inner() + ")"
	}
	return "select(" + randomCondition(r, 2) + ")" + pick(r, "", " | "+inner(), " | ., "+inner(), ", .")
}

func randomValue(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(5) == 0 {
		return pick(r, "null", "true", "0", "-1.50", "1e2", "12345678901234567890", `"x"`, `"a\u00e9\n"`, `""`, "[]", "{}")
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
		parts[i] = fmt.Sprintf("%s : %s", pick(r, `"a"`, `"b"`, `"c"`, `"\u0061"`, `"z"`), parts[i])
	}
	return "{" + strings.Join(parts, ",") + "}"
}
