package cache

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// A Finding is the detected dialect and framing of a peer whose endpoint names neither.
type Finding struct {
	Dialect string `json:"dialect"`
	Framing string `json:"framing"`
}

// findingFile returns the file for what was detected about e; "" if nothing is kept for e.
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

// Found returns what was detected about e; false if nothing was.
func Found(e endpoint.Endpoint) (f Finding, ok bool) {
	file := findingFile(e)
	if file == "" {
		return f, false
	}
	err := json.Unmarshal(Read(file), &f)
	return f, err == nil && (f.Dialect != "" || f.Framing != "")
}

// ForgetFinding removes what was detected about e, because the endpoint was right.
func ForgetFinding(e endpoint.Endpoint) {
	if file := findingFile(e); file != "" {
		_ = os.Remove(file)
	}
}

// KeepFinding stores what was detected about e. Errors are ignored.
func KeepFinding(e endpoint.Endpoint, f Finding) {
	if file := findingFile(e); file != "" {
		_ = Write(file, scan.JSON(f), time.Now())
	}
}
