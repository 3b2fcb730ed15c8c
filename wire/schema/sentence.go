package schema

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// sentences describe violated keywords in English, without the place of the value.
var sentences = map[string]func(f *failure) string{
	"type": func(f *failure) string {
		return fmt.Sprintf("got %s, want %s", f.value.typeName(), strings.Join(f.schema.Types.ToStrings(), " or "))
	},
	"enum": func(f *failure) string {
		return fmt.Sprintf("%s is not one of %s", brief(f.value.String()), encodeAll(f.wanted()))
	},
	"const": func(f *failure) string {
		return fmt.Sprintf("%s is not %s", brief(f.value.String()), encodeAll(f.wanted()))
	},
	"format": func(f *failure) string {
		return fmt.Sprintf("%s is not a valid %s", brief(f.value.String()), f.schema.Format.Name)
	},
	"minimum":          func(f *failure) string { return f.number("is less than", f.schema.Minimum) },
	"maximum":          func(f *failure) string { return f.number("is greater than", f.schema.Maximum) },
	"exclusiveMinimum": func(f *failure) string { return f.number("is not greater than", f.schema.ExclusiveMinimum) },
	"exclusiveMaximum": func(f *failure) string { return f.number("is not less than", f.schema.ExclusiveMaximum) },
	"multipleOf":       func(f *failure) string { return f.number("is not a multiple of", f.schema.MultipleOf) },
	"minLength":        func(f *failure) string { return f.tooFew("character") },
	"maxLength":        func(f *failure) string { return f.tooMany("character") },
	"minItems":         func(f *failure) string { return f.tooFew("element") },
	"maxItems":         func(f *failure) string { return f.tooMany("element") },
	"additionalItems":  func(f *failure) string { return f.tooMany("element") },
	"minProperties":    func(f *failure) string { return f.tooFew("member") },
	"maxProperties":    func(f *failure) string { return f.tooMany("member") },
	"contains":         func(*failure) string { return "has no element that matches" },
	"minContains":      func(f *failure) string { return f.tooFew("matching element") },
	"maxContains":      func(f *failure) string { return f.tooMany("matching element") },
	"uniqueItems": func(f *failure) string {
		return fmt.Sprintf("has the same element twice, at %d and %d", f.at[0], f.at[1])
	},
	"pattern": func(f *failure) string {
		return fmt.Sprintf("%s does not match the pattern %s", brief(strconv.Quote(string(f.value.text()))), f.schema.Pattern)
	},
	"required":              func(f *failure) string { return "lacks " + quoted(f.names) },
	"dependencies":          because,
	"dependentRequired":     because,
	"additionalProperties":  noProperty,
	"unevaluatedProperties": noProperty,
	"false":                 func(*failure) string { return "is not allowed" },
	"not":                   func(*failure) string { return "is excluded by the schema" },
}

// sentence describes the failure without its place.
func (f *failure) sentence() string {
	switch say := sentences[f.rule]; {
	case say != nil:
		return say(f)
	case f.rule == "propertyNames":
		return "the name " + brief(strconv.Quote(f.names[0])) + " is not allowed: " + f.all[0].useful().sentence()
	case !f.isChoice():
		return fmt.Sprintf("matches several alternatives (%d and %d), but may match only one", f.at[0]+1, f.at[1]+1)
	}
	return f.noAlternative()
}

// noAlternative explains why no alternative matches.
func (f *failure) noAlternative() string {
	var parts, types []string
	got := ""
	for _, c := range f.all {
		leaf := c.useful()
		if leaf.rule == "type" {
			got, types = leaf.value.typeName(), append(types, leaf.schema.Types.ToStrings()...)
		}
		parts = addName(parts, leaf.sentence())
	}
	if len(types) >= len(f.all) && got != "" && len(parts) == len(f.all) {
		return fmt.Sprintf("got %s, want %s", got, strings.Join(types, " or "))
	}
	return "matches no alternative: " + strings.Join(parts, "; or ")
}

// wanted returns the allowed values.
func (f *failure) wanted() []any {
	switch {
	case f.want != nil:
		return f.want
	case f.rule == "const":
		return []any{*f.schema.Const}
	}
	return f.schema.Enum.Values
}

func (f *failure) number(is string, bound *big.Rat) string {
	return digits(rat(f.value.raw)) + " " + is + " " + digits(bound)
}

func (f *failure) tooFew(what string) string {
	return fmt.Sprintf("has %s, but needs at least %d", wire.Count(f.at[0], what), f.at[1])
}

func (f *failure) tooMany(what string) string {
	return fmt.Sprintf("has %s, but can have at most %d", wire.Count(f.at[0], what), f.at[1])
}

func noProperty(f *failure) string { return "has no property " + quoted(f.names) }

func because(f *failure) string {
	last := len(f.names) - 1
	return "lacks " + quoted(f.names[:last]) + ", which is required with " + brief(strconv.Quote(f.names[last]))
}

// digits returns a number without an exponent.
func digits(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	if n, exact := r.FloatPrec(); exact {
		return r.FloatString(n)
	}
	return r.RatString()
}

func list(names []string) string {
	if len(names) > 8 {
		return strings.Join(names[:8], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func quoted(names []string) string {
	return list(wire.Map(names, strconv.Quote))
}

func encodeAll(values []any) string {
	return list(wire.Map(values, func(v any) string { return brief(encode(v)) }))
}

func brief(text string) string { return wire.Excerpt(text, 200) }

func encode(v any) string {
	b, err := scan.Marshal(v)
	if err != nil {
		return "the value"
	}
	return string(b)
}
