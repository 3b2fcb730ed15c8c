package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// object and array are JSON objects and arrays that print as JSON. The method String hides a member named String, but
// {{index . "String"}} finds it.
type (
	object map[string]any
	array  []any
)

func (o object) String() string { return toJSON(o) }
func (a array) String() string  { return toJSON(a) }

// convert converts a decoded value for templates. An integer that would print unchanged becomes an int64, so templates
// can compare and count. Any other number becomes text with the same digits, which the function float converts.
func convert(v any, clean func(string) string) any {
	switch v := v.(type) {
	case string:
		return clean(v)
	case json.Number:
		if i, err := v.Int64(); err == nil && strconv.FormatInt(i, 10) == v.String() {
			return i
		}
		return v
	case []any:
		for i := range v {
			v[i] = convert(v[i], clean)
		}
		return array(v)
	case map[string]any:
		o := make(object, len(v))
		for key, val := range v {
			o[clean(key)] = convert(val, clean)
		}
		return o
	}
	return v
}

// functions are available in templates, in addition to those of text/template.
var functions = template.FuncMap{
	"json":    toJSON,
	"float":   func(v any) (float64, error) { return strconv.ParseFloat(text(v), 64) },
	"quote":   func(v any) string { return "'" + strings.ReplaceAll(text(v), "'", `'\''`) + "'" }, // for sh
	"upper":   func(v any) string { return strings.ToUpper(text(v)) },
	"lower":   func(v any) string { return strings.ToLower(text(v)) },
	"trim":    func(v any) string { return strings.TrimSpace(text(v)) },
	"join":    join,
	"split":   func(sep, s string) []string { return strings.Split(s, sep) },
	"default": orDefault,
}

// text returns a value as templates print it, but "" for null.
func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// join joins the elements of an array, or of a result of split. null counts as an empty array.
func join(sep string, list any) (string, error) {
	var parts []string
	switch list := list.(type) {
	case nil:
	case []string:
		parts = list
	case array:
		parts = wire.Map(list, text)
	default:
		return "", errors.New("join takes a separator and an array")
	}
	return strings.Join(parts, sep), nil
}

func orDefault(value, v any) any {
	if truth, _ := template.IsTrue(v); truth {
		return v
	}
	return value
}

// toJSON returns v as JSON, or the reason why that is impossible.
func toJSON(v any) string {
	b, err := scan.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
