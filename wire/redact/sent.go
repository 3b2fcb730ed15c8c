package redact

import (
	"bytes"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"rpcx/wire/scan"
)

// Limits for secrets that are known by value: a shorter value, in bytes, could be an ordinary word, and a server can
// set any number of values.
const (
	shortestSecret = 4
	maxSecrets     = 1000
)

// sent contains the secrets that Known masks.
var sent struct {
	mu   sync.Mutex
	all  map[string]string                // the secrets by their spellings
	mask atomic.Pointer[strings.Replacer] // nil if there are no such secrets
	list atomic.Pointer[[]spelling]       // longest first; stored after mask
}

// A spelling is one form of a secret.
type spelling struct {
	text   []byte
	secret string
}

// fewSecrets is the number of secrets up to which separate searches are faster than one replacer.
const fewSecrets = 16

// Sent makes Known mask values wherever a peer repeats them.
func Sent(values ...string) {
	if len(values) == 0 {
		return
	}
	sent.mu.Lock()
	defer sent.mu.Unlock()
	all := map[string]string{}
	maps.Copy(all, sent.all)
	for _, v := range values {
		quoted := string(scan.JSON(v))
		for _, spelled := range []string{v, quoted[1 : len(quoted)-1], url.QueryEscape(v), url.PathEscape(v)} {
			if all[spelled] == "" && len(v) >= shortestSecret && len(all) < maxSecrets {
				all[spelled] = v
			}
		}
	}
	if len(all) == len(sent.all) {
		return
	}
	sent.all = all
	longest := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	var each []spelling
	for _, v := range longest {
		pairs, each = append(pairs, v, Mark), append(each, spelling{[]byte(v), all[v]})
	}
	sent.mask.Store(strings.NewReplacer(pairs...))
	sent.list.Store(&each)
}

// SentHeader is like Sent, but for the secrets in header lines: credentials, cookies, and the values of headers whose
// names mean secrets.
func SentHeader(h http.Header) {
	for name, lines := range h {
		if !SecretField(name) {
			continue
		}
		for _, line := range lines {
			switch scheme, rest, ok := strings.Cut(line, " "); {
			case strings.Contains(strings.ToLower(name), "cookie"):
				for pair := range strings.SplitSeq(line, ";") {
					_, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
					Sent(value)
				}
			case ok && strings.HasSuffix(strings.ToLower(name), "authorization"):
				Sent(rest)
				if pair, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
					_, password, _ := strings.Cut(string(pair), ":")
					Sent(password)
				}
			default:
				Sent(line)
			}
		}
	}
}

// SentQuery is like Sent, but for the values in a URL's query whose names mean secrets.
func SentQuery(query string) {
	values, _ := url.ParseQuery(query)
	for name, all := range values {
		if SecretField(name) {
			Sent(all...)
		}
	}
}

// Known returns text with all sent secrets masked.
func Known(text string) string {
	if mask := sent.mask.Load(); mask != nil {
		return mask.Replace(text)
	}
	return text
}

// Repeated returns the sent secrets that occur in b, for another process that masks them when it shows b. b is JSON, whose
// strings may contain JSON.
func Repeated(b []byte) (list []string) {
	all := sent.list.Load()
	if all == nil {
		return nil
	}
	inner := b
	if bytes.IndexByte(b, '\\') >= 0 {
		inner = []byte(unescaped().Replace(string(b)))
	}
	for _, v := range *all {
		if (bytes.Contains(b, v.text) || bytes.Contains(inner, v.text)) && !slices.Contains(list, v.secret) {
			list = append(list, v.secret)
		}
	}
	return list
}

// unescaped replaces the escapes of the characters with which JSON in strings is written.
var unescaped = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer(`\\`, `\`, `\"`, `"`) })

// HasKnown reports whether b contains a sent secret.
func HasKnown(b []byte) bool {
	all := sent.list.Load()
	if all == nil {
		return false
	}
	if len(*all) <= fewSecrets {
		return slices.ContainsFunc(*all, func(v spelling) bool { return bytes.Contains(b, v.text) })
	}
	return !bytes.Equal(masked(b), b)
}

// KnownBytes is like Known, but for bytes. It does not change b.
func KnownBytes(b []byte) []byte {
	if !HasKnown(b) {
		return b
	}
	return masked(b)
}

func masked(b []byte) []byte {
	return []byte(sent.mask.Load().Replace(string(b)))
}
