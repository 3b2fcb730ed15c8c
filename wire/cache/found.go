package cache

import (
	"encoding/json"
	"path/filepath"
	"time"

	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// A Finding is how a peer speaks of whose endpoint only the address was known.
type Finding struct {
	Dialect string `json:"dialect"`
	Framing string `json:"framing"`
}

// findingFile returns the file of what was found of e; "" where nothing is kept.
func findingFile(e endpoint.Endpoint) string {
	d, err := dir()
	if err != nil {
		return ""
	}
	id, err := identity(e)
	if err != nil {
		return ""
	}
	return filepath.Join(d, "found", digest(id...)[:32]+".json")
}

// Found returns what was found of e; false where that is not known.
func Found(e endpoint.Endpoint) (f Finding, ok bool) {
	file := findingFile(e)
	if file == "" {
		return f, false
	}
	err := json.Unmarshal(Read(file), &f)
	return f, err == nil && (f.Dialect != "" || f.Framing != "")
}

// KeepFinding keeps what was found of e, for the next time. That it cannot be kept does
// not matter.
func KeepFinding(e endpoint.Endpoint, f Finding) {
	if file := findingFile(e); file != "" {
		_ = Write(file, scan.JSON(f), time.Now())
	}
}
