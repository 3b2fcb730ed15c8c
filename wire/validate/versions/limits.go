package versions

import (
	"cmp"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"rpcx/wire/schema"
)

// A limit is a keyword that bounds a value from below or above.
type limit struct {
	stem      string // the kinds of difference are STEM-widened and STEM-narrowed
	keyword   string
	exclusive string // the keyword for a bound that is not itself allowed, or ""
	lower     bool
}

var limits = []limit{
	{"range", "minimum", "exclusiveMinimum", true},
	{"range", "maximum", "exclusiveMaximum", false},
	{"length", "minLength", "", true},
	{"length", "maxLength", "", false},
	{"size", "minItems", "", true},
	{"size", "maxItems", "", false},
	{"size", "minProperties", "", true},
	{"size", "maxProperties", "", false},
}

// A bound is the value of a limit. The zero bound allows everything.
type bound struct {
	value     *big.Rat
	keyword   string
	exclusive bool
	text      string
}

// limits compares the bounds of numbers, lengths and sizes.
func (c *comparison) limits(x node) {
	for _, l := range limits {
		a, b := l.of(x.old).whole(l, x.old), l.of(x.now).whole(l, x.now)
		at := place{x.at(cmp.Or(a.keyword, l.keyword)).old, x.at(cmp.Or(b.keyword, l.keyword)).now}
		switch order := l.compare(a, b); {
		case order < 0:
			c.differ(l.stem+"-widened", x.dir, at, "%s was %s and is now %s", l.keyword, a, b)
		case order > 0:
			c.differ(l.stem+"-narrowed", x.dir, at, "%s was %s and is now %s", l.keyword, a, b)
		}
	}
}

// compare returns a negative number if b allows more than a, and a positive number if b allows less.
func (l limit) compare(a, b bound) int {
	switch {
	case a.value == nil && b.value == nil:
		return 0
	case a.value == nil:
		return 1
	case b.value == nil:
		return -1
	}
	order := b.value.Cmp(a.value)
	if !l.lower {
		order = -order
	}
	if order == 0 && a.exclusive != b.exclusive {
		if b.exclusive {
			return 1
		}
		return -1
	}
	return order
}

// of returns the tighter one of a schema's two bounds. In draft 4, the exclusive keyword is a boolean that modifies the
// other keyword.
func (l limit) of(m map[string]any) bound {
	b := boundOf(l.keyword, m[l.keyword], false)
	switch {
	case l.exclusive == "" && l.lower && b.value != nil && b.value.Sign() <= 0: // it excludes nothing, such as a minimum length of 0
		return bound{}
	case l.exclusive == "":
		return b
	}
	if m[l.exclusive] == true {
		b.exclusive = b.value != nil
		return b
	}
	if e := boundOf(l.exclusive, m[l.exclusive], true); l.compare(b, e) > 0 {
		return e
	}
	return b
}

// whole returns an equivalent inclusive bound if m allows only integers: greater than 0 becomes at least 1.
func (b bound) whole(l limit, m map[string]any) bound {
	if l.exclusive == "" || b.value == nil || typesOf(m) != schema.TypeNamed("integer") || b.value.IsInt() && !b.exclusive {
		return b
	}
	n := new(big.Int).Div(b.value.Num(), b.value.Denom()) // rounded down
	switch {
	case l.lower:
		n.Add(n, big.NewInt(1))
	case b.value.IsInt():
		n.Sub(n, big.NewInt(1))
	}
	if b.exclusive {
		b.text = b.String()
	}
	b.value, b.exclusive = new(big.Rat).SetInt(n), false
	return b
}

func boundOf(keyword string, v any, exclusive bool) bound {
	n, ok := v.(json.Number)
	if !ok {
		return bound{}
	}
	return bound{value: rational(n.String()), keyword: keyword, exclusive: exclusive, text: n.String()}
}

// rational returns the exact value of a number, or an approximation if the number is extremely long or large.
func rational(s string) *big.Rat {
	const most = 300
	_, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	if e, err := strconv.Atoi(exponent); len(s) <= most && (exponent == "" || err == nil && -most < e && e < most) {
		if r, ok := new(big.Rat).SetString(s); ok {
			return r
		}
	}
	f, _ := strconv.ParseFloat(s, 64)
	if r := new(big.Rat).SetFloat64(f); r != nil {
		return r
	}
	return new(big.Rat)
}

// String returns the bound as text.
func (b bound) String() string {
	switch {
	case b.value == nil:
		return "not set"
	case b.exclusive:
		return b.text + " (exclusive)"
	}
	return b.text
}
