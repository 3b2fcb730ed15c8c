package ro

import (
	"encoding/json"
	"strconv"
	"time"

	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// CacheKey returns a JSON object of everything in op that its answer may depend
// on: resource, verb, target, subresource and parent (the method for a plain
// request), and the params, which the page's own key leaves out. Errors are
// usage Faults.
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

// longest bounds for how long an answer is kept, whatever the peer says.
const longest = 365 * 24 * time.Hour

// MaxAge returns for how long the response raw may be kept, from its cache.max-age in seconds ("Caching" of the page),
// or 0 if it does not say.
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
