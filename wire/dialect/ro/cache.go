package ro

import (
	"encoding/json"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// CacheKey is what op asks, as far as its answer may depend on it: resource,
// verb, target, subresource and parent (or for a plain request its method), and
// the params. Errors are usage Faults.
func CacheKey(op dialect.Op) (json.RawMessage, error) {
	a, _, err := request(op)
	if err != nil {
		return nil, err
	}
	b := wire.AppendString([]byte(`{"method":`), a.Method)
	if a.Resource != "" {
		b = a.members(b)
	}
	if op.Params != nil {
		b = scan.Compact(append(b, `,"params":`...), op.Params)
	}
	return append(b, '}'), nil
}

// longest is how long an answer is kept at most, whatever its peer says.
const longest = 365 * 24 * time.Hour

// MaxAge is how long the answer in raw may be kept: its cache.max-age, in
// seconds. 0 where it says nothing.
func MaxAge(raw []byte) time.Duration {
	val := scan.Get(scan.Get(raw, "cache"), "max-age")
	seconds, err := strconv.ParseFloat(string(val), 64)
	switch {
	case err != nil || !(seconds > 0):
		return 0
	case seconds > longest.Seconds():
		return longest
	}
	return time.Duration(seconds * float64(time.Second))
}
