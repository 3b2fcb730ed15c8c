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
	Endpoint *endpoint.Endpoint // the detected endpoint of the peer; nil: not detected
	At       *endpoint.Endpoint // the URL that an HTTP server stated for it, else nil
	Header   string             // the line that the peer needs in the heads of its messages, or ""
	Weak     bool               // no specific dialect was recognised: the peer uses JSON-RPC
	Catalog  *catalog.Catalog   // from a listing; nil: it has to be requested
	Tried    []*Try
	Fault    *wire.Fault // why the peer could not be reached; nil: it was reached
}

// Heard returns the first bytes that the peer sent in any attempt, escaped and bounded; "" if it sent none.
func (r *Report) Heard() string {
	for _, t := range r.Tried {
		if t.Received != "" {
			return fmt.Sprintf("%+q", t.Received)
		}
	}
	return ""
}

// A Try is one attempt to exchange messages, in the form for the report.
type Try struct {
	Endpoint string   `json:"endpoint"`
	Header   string   `json:"header,omitempty"`   // a line in the heads of the sent messages
	Sent     []string `json:"sent"`               // the sources of the sent messages: dialects, and methods that list methods
	Received string   `json:"received,omitempty"` // the first bytes
	Outcome  string   `json:"outcome"`

	heard  []byte
	got    bool        // it was a GET in addition to an attempt
	closed bool        // the peer closed the connection
	fault  *wire.Fault // of the transport, or nil
}

// mentions reports whether the peer's output, or how it ended, contains word, which is in lower case.
func (t *Try) mentions(word string) bool {
	return strings.Contains(strings.ToLower(string(t.heard)+t.Outcome), word)
}

// unused reports whether the attempt was stopped before anything was sent.
func (t *Try) unused() bool {
	return len(t.Sent) == 0 && len(t.heard) == 0 && t.fault == nil && !t.closed
}

// maxShown bounds the first bytes that a report shows.
const maxShown = 160

// Line describes, for people, what was sent and received.
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
	if len(t.heard) > maxShown {
		b.WriteString("…")
	}
	return b.String()
}
