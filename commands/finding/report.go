package finding

import (
	"fmt"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/endpoint"
)

// A Report describes the attempts of a Prober and their results.
type Report struct {
	Endpoint *endpoint.Endpoint // the detected endpoint of the peer, or nil
	At       *endpoint.Endpoint // the peer's URL from an HTTP server, or nil
	Header   string             // the required line in the heads of messages to the peer, or ""
	Weak     bool               // the peer uses JSON-RPC, but no specific dialect was detected
	Catalog  *catalog.Catalog   // from a listing, or nil if the caller must request the catalog
	Tried    []*Try
	Fault    *wire.Fault // why the peer was not reached, or nil
}

// FirstBytes returns the first bytes that the peer sent in any attempt, escaped and shortened, or "".
func (r *Report) FirstBytes() string {
	for _, t := range r.Tried {
		if t.Received != "" {
			return fmt.Sprintf("%+q", t.Received)
		}
	}
	return ""
}

// A Try is one attempt to exchange messages, as the report contains it.
type Try struct {
	Endpoint string   `json:"endpoint"`
	Header   string   `json:"header,omitempty"`   // a line in the heads of sent messages
	Sent     []string `json:"sent"`               // the sources of sent messages: dialects, and methods that list methods
	Received string   `json:"received,omitempty"` // the first bytes
	Outcome  string   `json:"outcome"`

	received []byte
	got      bool        // an additional GET
	closed   bool        // the peer closed the connection
	fault    *wire.Fault // the error of the transport, or nil
}

// unused reports whether the attempt ended before it sent anything.
func (t *Try) unused() bool {
	return len(t.Sent) == 0 && len(t.received) == 0 && t.fault == nil && !t.closed
}

// maxShown bounds the bytes in a report.
const maxShown = 160

// Line returns a human-readable line about what was sent and received.
func (t *Try) Line() string {
	var b strings.Builder
	b.WriteString("tried " + t.Endpoint)
	if t.Header != "" {
		b.WriteString(" with " + t.Header)
	}
	if len(t.Sent) > 0 {
		b.WriteString(" (" + strings.Join(t.Sent, ", ") + ")")
	}
	b.WriteString(": " + t.Outcome)
	if t.Received != "" {
		fmt.Fprintf(&b, ": %+q", t.Received)
	}
	if len(t.received) > maxShown {
		b.WriteString("…")
	}
	return b.String()
}
