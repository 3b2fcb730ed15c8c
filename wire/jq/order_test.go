package jq

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
)

// Values are in the order in which gojq has them.
func TestOrderIsThatOfGojq(t *testing.T) {
	all := []string{
		"null", "false", "true", "0", "-0", "1", "-1", "10", "9", "-10", "-9", "1.0", "1e0", "0.5", "-0.0", "1E2", "100", "99.5", "1e400", "-1e400", "1e-400",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9223372036854775807.0", "9007199254740993", "9007199254740992.0",
		"12345678901234567890", "12345678901234567891", "12345678901234567890.0", "1" + strings.Repeat("0", 400), "-1" + strings.Repeat("0", 400), "1" + strings.Repeat("0", 300), "1e300",
		`""`, `"a"`, `"b"`, `"aa"`, `"\u0061"`, `"\u00e9"`, `"é"`, "\"\xff\"", `"\ufffd"`, `"\ud800"`, `"€"`, `"😀"`, `"\ud83d\ude00"`, "[]", "{}",
	}
	for _, a := range all {
		for _, b := range all {
			x, _ := Decode(json.RawMessage(a))
			y, _ := Decode(json.RawMessage(b))
			got, ok := compare([]byte(a), []byte(b))
			if both := a == b && (a == "[]" || a == "{}"); ok == both || ok && got != gojq.Compare(x, y) {
				t.Errorf("%s and %s: %d, %v; gojq says %d", a, b, got, ok, gojq.Compare(x, y))
			}
		}
	}
}
