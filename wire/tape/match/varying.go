package match

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// The name of a member that contains a time or a duration ends with one of these words.
var (
	timeWords = []string{"time", "timestamp", "date", "datetime", "duration", "elapsed", "uptime", "latency", "took"}
	unitWords = []string{"ms", "millis", "milliseconds", "s", "sec", "secs", "seconds", "us", "micros", "ns", "nanos"}
	atWord    = "at" // as in createdAt; "at" on its own is not a time
)

// varying reports whether want and got, the values of a member, are both times or both durations. Such values differ in every
// conversation.
func varying(name string, want, got []byte) bool {
	kind := scan.Type(want)
	if kind != scan.Type(got) || kind != 'n' && kind != 's' {
		return false
	}
	if kind == 's' && isTime(want) && isTime(got) || kind == 's' && sameAfterTime(want, got) {
		return true
	}
	return namesTime(name) && (kind == 'n' || startsWithDigit(want) && startsWithDigit(got))
}

// mayVary reports whether a member with this name and value can be varying.
func mayVary(name string, val []byte) bool {
	switch scan.Type(val) {
	case 'n':
		return namesTime(name)
	case 's':
		return isTime(val) || afterTime(val) != nil || startsWithDigit(val) && namesTime(name)
	}
	return false
}

func namesTime(name string) bool {
	words := wire.Map(words().FindAllString(name, -1), strings.ToLower)
	if n := len(words); n > 1 && slices.Contains(unitWords, words[n-1]) {
		words = words[:n-1]
	}
	n := len(words)
	return n > 0 && (slices.Contains(timeWords, words[n-1]) || n > 1 && words[n-1] == atWord)
}

// words matches the words of a name such as createdAt, created_at or created-at.
var words = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[A-Z]+[a-z]*|[a-z]+") })

// isTime reports whether a JSON string is a time in the format of RFC 3339 or of HTTP.
func isTime(val []byte) bool {
	text, _ := scan.Text(val)
	if len(text) < len("2006-01-02T15:04:05Z") || len(text) > 40 {
		return false
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.RFC1123} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

// sameAfterTime reports whether two JSON strings are log lines that begin with a time and are equal after it.
func sameAfterTime(want, got []byte) bool {
	rest := afterTime(want)
	return rest != nil && bytes.Equal(rest, afterTime(got))
}

// afterTime returns what follows the time at the beginning of a JSON string. It returns nil if the string does not
// begin with a time that has seconds.
func afterTime(val []byte) []byte {
	const layout = "2006/01/02 15:04:05"
	if len(val) < len(layout)+2 || val[1] < '0' || val[1] > '9' || val[12] < '0' || val[12] > '9' {
		return nil
	}
	text := bytes.Clone(val[1 : 1+len(layout)])
	text[4], text[7], text[10] = '/', '/', ' '
	if _, err := time.Parse(layout, string(text)); err != nil {
		return nil
	}
	return bytes.TrimLeft(val[1+len(layout):], ".,0123456789")
}

func startsWithDigit(val []byte) bool { return len(val) > 1 && val[1] >= '0' && val[1] <= '9' }
