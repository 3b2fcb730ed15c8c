package match

import "testing"

// Which texts are times, in one of the forms of RFC 3339 and HTTP.
func TestIsTime(t *testing.T) {
	for text, want := range map[string]bool{
		`"2026-01-31T12:00:00Z"`: true, `"2026-01-31T12:00:00.123456789+01:00"`: true, `"2026-01-31T12:00:00.1234"`: true, `"Sat, 31 Jan 2026 12:00:00 GMT"`: true,
		`"2026-01-31T12:00:00"`: false, `"2026-01-31"`: false, `"2026-13-31T12:00:00Z"`: false, `"twenty letters, or so"`: false, `""`: false, `20260131120000000000`: false,
		`"2026-01-31T12:00:00Z, or a little later than that"`: false,
	} {
		if isTime([]byte(text)) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

// Which members may vary by their names, whose last word may be a unit.
func TestNamesThatVary(t *testing.T) {
	for name, want := range map[string]bool{
		"time": true, "createdAt": true, "updated_at": true, "at": false, "timestampMs": true, "duration_ms": true,
		"elapsed": true, "tookNanos": true, "ms": false, "s": false, "seconds": false, "": false, "timer": false, "at_ms": false,
	} {
		if got := namesTime(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
