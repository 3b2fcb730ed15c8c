package ro

import (
	"encoding/json"
	"strconv"
	"time"

	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// CacheKey returns a JSON object of everything in op that can affect its answer: the method, the structured fields, if
// any, and the params, which the key in the specification omits. Errors are usage Faults.
func CacheKey(op dialect.Op) (json.RawMessage, error) {
	a, _, err := request(op)
	if err != nil {
		return nil, err
	}
	var o scan.Object
	o.Text("method", a.Method)
	if a.Resource != "" {
		a.addTo(&o)
	}
	o.Compact("params", op.Params)
	return o.End(), nil
}

// longest bounds how long an answer is cached.
const longest = 365 * 24 * time.Hour

// MaxAge returns how long the response raw may be cached, from its cache.max-age in seconds ("Caching" in the
// specification), or 0.
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
