package schema

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"rpcx/wire/scan"
)

// rule returns the keyword that an error is about.
func rule(e *jsonschema.ValidationError) string {
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	switch e.ErrorKind.(type) {
	case *kind.Not:
		return "not"
	case *kind.RefCycle:
		return "$ref"
	}
	return "false"
}

// say returns what is wrong, for people, with numbers in full.
func say(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Minimum:
		return fmt.Sprintf("%s is less than %s", digits(k.Got), digits(k.Want))
	case *kind.Maximum:
		return fmt.Sprintf("%s is greater than %s", digits(k.Got), digits(k.Want))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("%s is not greater than %s", digits(k.Got), digits(k.Want))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("%s is not less than %s", digits(k.Got), digits(k.Want))
	case *kind.MultipleOf:
		return fmt.Sprintf("%s is no multiple of %s", digits(k.Got), digits(k.Want))
	case *kind.MinLength:
		return tooFew("character", k.Got, k.Want)
	case *kind.MaxLength:
		return tooMany("character", k.Got, k.Want)
	case *kind.MinItems:
		return tooFew("element", k.Got, k.Want)
	case *kind.MaxItems:
		return tooMany("element", k.Got, k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("has the same element twice, at %d and %d", k.Duplicates[0], k.Duplicates[1])
	case *kind.Pattern:
		return fmt.Sprintf("%s does not match the pattern %s", brief(strconv.Quote(k.Got)), k.Want)
	case *kind.Required:
		return "lacks " + quoted(k.Missing)
	case *kind.AdditionalProperties:
		return "has no property " + quoted(k.Properties)
	case *kind.Enum:
		return fmt.Sprintf("%s is none of %s", brief(encode(k.Got)), encodeAll(k.Want))
	case *kind.Const:
		return fmt.Sprintf("%s is not %s", brief(encode(k.Got)), brief(encode(k.Want)))
	case *kind.FalseSchema:
		return "is not allowed"
	case *kind.Not:
		return "is what the schema excludes"
	case *kind.AnyOf, *kind.OneOf:
		return sayBranches(e)
	}
	return e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
}

func tooFew(what string, got, want int) string {
	return fmt.Sprintf("has %s, and needs %d at least", count(got, what), want)
}

func tooMany(what string, got, want int) string {
	return fmt.Sprintf("has %s, and may have %d at most", count(got, what), want)
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// sayBranches returns why no alternative fits, or why too many do.
func sayBranches(e *jsonschema.ValidationError) string {
	if k, ok := e.ErrorKind.(*kind.OneOf); ok && len(k.Subschemas) > 1 {
		return fmt.Sprintf("fits several alternatives (%d and %d) where one is allowed", k.Subschemas[0]+1, k.Subschemas[1]+1)
	}
	var parts, types []string
	got := ""
	for _, c := range e.Causes {
		leaf := pick(c)
		if k, ok := leaf.ErrorKind.(*kind.Type); ok {
			got, types = k.Got, append(types, k.Want...)
		}
		parts = addName(parts, say(leaf))
	}
	if len(types) >= len(e.Causes) && got != "" && len(parts) == len(e.Causes) {
		return fmt.Sprintf("got %s, want %s", got, strings.Join(types, " or "))
	}
	return "fits no alternative: " + strings.Join(parts, "; or ")
}

func digits(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	if n, exact := r.FloatPrec(); exact {
		return r.FloatString(n)
	}
	return r.RatString()
}

// list joins names with commas, eight at most.
func list(names []string) string {
	if len(names) > 8 {
		return strings.Join(names[:8], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = strconv.Quote(n)
	}
	return list(q)
}

func encodeAll(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = brief(encode(v))
	}
	return list(texts)
}

// brief shortens a text that is too long for a sentence.
func brief(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// encode returns v as JSON.
func encode(v any) string {
	b, err := scan.Marshal(v)
	if err != nil {
		return "the value"
	}
	return string(b)
}
