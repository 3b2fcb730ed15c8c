package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// fault returns a usage Fault about one word.
func fault(message, arg, hint string) *wire.Fault {
	return &wire.Fault{Kind: wire.Usage, Message: message, Hint: hint, Err: &ArgError{Arg: arg}}
}

// oneValue returns the only JSON value in b, on one line.
func oneValue(b []byte) (json.RawMessage, error) {
	if len(strings.TrimSpace(string(b))) == 0 {
		return nil, errors.New("it is empty")
	}
	if err := scan.Valid(b, wire.DefaultMaxDepth); err != nil {
		return nil, place(b, err)
	}
	if !utf8.Valid(b) {
		return nil, errors.New("not UTF-8")
	}
	return scan.Compact(nil, scan.Trim(b)), nil
}

// place adds line and column to an error in text of several lines.
func place(b []byte, err error) error {
	se, ok := errors.AsType[*scan.Error](err)
	if !ok || !strings.Contains(strings.TrimSpace(string(b)), "\n") {
		return err
	}
	before := string(b[:min(max(se.Offset, 0), len(b))])
	return fmt.Errorf("line %d, column %d: %s", 1+strings.Count(before, "\n"), len(before)-strings.LastIndexByte(before, '\n'), se.What)
}

// Escaped characters in a key become bytes that valid keys do not contain, and then the characters themselves.
var (
	escapes   = strings.NewReplacer(`\.`, "\xfe", `\[`, "\xff")
	unescapes = strings.NewReplacer("\xfe", ".", "\xff", "[")
)

// parsePath splits a key into names and, for [], schema.Append. a.b nests, and \. and \[ are literal.
func parsePath(key string) (path []string, err error) {
	for part := range strings.SplitSeq(escapes.Replace(key), ".") {
		name, brackets, found := strings.Cut(part, "[")
		if found {
			brackets = "[" + brackets
		}
		switch rest := strings.ReplaceAll(brackets, "[]", ""); {
		case name == "":
			return nil, fmt.Errorf("the key %s has an empty name", strconv.Quote(key))
		case strings.HasPrefix(rest, "["):
			return nil, fmt.Errorf(`in the key %s only [] may follow a name; \[ is a literal bracket`, strconv.Quote(key))
		case rest != "":
			return nil, fmt.Errorf("in the key %s a dot must follow []", strconv.Quote(key))
		}
		path = append(path, unescapes.Replace(name))
		path = append(path, slices.Repeat([]string{schema.Append}, strings.Count(brackets, "[]"))...)
	}
	return path, nil
}

// clip quotes a redacted and shortened word for a message.
func clip(word string) string {
	return strconv.Quote(wire.Excerpt(Shown(word), 80))
}

// Shown returns word with its secrets redacted.
func Shown(word string) string {
	key, op, value := splitKey(word)
	if redact.SecretName(key) {
		return key + op + "…"
	}
	return key + op + string(redact.JSON([]byte(value)))
}
