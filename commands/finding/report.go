package finding

import (
	"fmt"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/endpoint"
)

// A Report says what a Prober tried and what came of it.
type Report struct {
	Endpoint *endpoint.Endpoint // that leads to the peer; nil means not found out
	At       *endpoint.Endpoint // where that is held, if an HTTP server told; else nil
	Weak     bool               // no dialect of its own was recognised: the peer speaks JSON-RPC
	Catalog  *catalog.Catalog   // from a listing; nil means the peer has to be asked for it
	Tried    []*Try
	Fault    *wire.Fault // why the peer was not reached; nil means it was
}

// Heard returns the first bytes that the peer sent in any attempt, escaped and bounded; "" means it sent none.
func (r *Report) Heard() string {
	for _, t := range r.Tried {
		if t.Received != "" {
			return fmt.Sprintf("%+q", t.Received)
		}
	}
	return ""
}

// A Try is one attempt to exchange messages, for the report.
type Try struct {
	Endpoint string   `json:"endpoint"`
	Sent     []string `json:"sent"`               // whose messages were sent: dialects, and methods that list methods
	Received string   `json:"received,omitempty"` // the first bytes
	Outcome  string   `json:"outcome"`

	heard  []byte
	got    bool        // it was a GET beside an attempt
	closed bool        // the peer closed the connection
	fault  *wire.Fault // of the transport, or nil
}

// unused reports whether the attempt was stopped before anything was sent.
func (t *Try) unused() bool { return len(t.Sent) == 0 && len(t.heard) == 0 && t.fault == nil }

// maxShown bounds the first bytes that a report shows.
const maxShown = 160

// Line says what was sent and what came back, for people.
func (t *Try) Line() string {
	var b strings.Builder
	b.WriteString("tried " + t.Endpoint)
	if len(t.Sent) > 0 {
		b.WriteString(" (" + strings.Join(t.Sent, ", ") + ")")
	}
	b.WriteString(": " + t.Outcome)
	if t.Received != "" {
		fmt.Fprintf(&b, ": %+q", t.Received)
	}
	if len(t.heard) > maxShown {
		b.WriteString("…")
	}
	return b.String()
}
