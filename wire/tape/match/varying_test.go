package match

import (
	"testing"

	"rpcx/wire/testkit"
)

// Times in the forms of RFC 3339 and HTTP are recognised.
func TestIsTime(t *testing.T) {
	for text, want := range map[string]bool{
		`"2026-01-31T12:00:00Z"`: true, `"2026-01-31T12:00:00.123456789+01:00"`: true, `"2026-01-31T12:00:00.1234"`: true, `"Sat, 31 Jan 2026 12:00:00 GMT"`: true,
		`"2026-01-31T12:00:00"`: false, `"2026-01-31"`: false, `"2026-13-31T12:00:00Z"`: false, `"twenty letters, or so"`: false, `""`: false, `20260131120000000000`: false,
		`"2026-01-31T12:00:00Z, or a little later than that"`: false,
	} {
		testkit.Expect(t, text, isTime([]byte(text)), want)
	}
}

// Log lines that differ only in their times are equal.
func TestBehindTime(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{`"2026/01/31 12:00:00 ready\n"`, `"2026/01/31 12:00:01 ready\n"`, true},
		{`"2026-01-31T12:00:00.5 ready"`, `"2026-01-31T12:00:01.75 ready"`, true},
		{`"2026/01/31 12:00:00 ready"`, `"2026/01/31 12:00:01 done"`, false},
		{`"ready at 2026/01/31 12:00:00"`, `"ready at 2026/01/31 12:00:01"`, false},
		{`"2026/01/41 12:00:00 ready"`, `"2026/01/41 12:00:01 ready"`, false},
		{`""`, `""`, false},
	} {
		testkit.Expect(t, c.want+", "+c.got, sameAfterTime([]byte(c.want), []byte(c.got)), c.same)
	}
}

// The values of members with these names can vary. The last word of a name can be a unit.
func TestNamesThatVary(t *testing.T) {
	for name, want := range map[string]bool{
		"time": true, "createdAt": true, "updated_at": true, "at": false, "timestampMs": true, "duration_ms": true,
		"elapsed": true, "tookNanos": true, "ms": false, "s": false, "seconds": false, "": false, "timer": false, "at_ms": false,
	} {
		testkit.Expect(t, name, namesTime(name), want)
	}
}
