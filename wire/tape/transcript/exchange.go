package transcript

import (
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
)

// This file processes the HTTP exchanges of a track: what the recorded client sent in addition to its messages.

// Head returns the header lines of entry i that the recorded client added to the lines of the transport.
func (t *Track) Head(i int32) [][2]string { return t.heads[i] }

// Refused returns the HTTP status with which the server refused the request at entry i, or 0.
func (t *Track) Refused(i int32) int { return t.refused[i] }

// A posted is an entry that may be the body of a later HTTP exchange.
type posted struct {
	i      int32
	length int
	at     time.Duration
}

// maxPosted bounds the entries that wait for their exchange, because tapes of other transports have no exchanges.
const maxPosted = 64

// sent stores the next entry e if it is the only message of its exchange.
func (k *loading) sent(e *Entry, line *tape.Line) {
	if e.Dir != wire.Send || e.elem > 0 {
		return
	}
	if len(k.posted) == maxPosted {
		k.posted = k.posted[1:]
	}
	k.posted = append(k.posted, posted{int32(k.Len()), len(line.Payload()), line.Time})
}

// exchange stores the facts that h shows about the client's exchanges.
func (k *loading) exchange(h *tape.HTTP) {
	switch {
	case h == nil:
	case h.Method == "GET" && h.Status == 200 && k.Events == None:
		k.Events = int32(k.Len())
	case h.Method == "DELETE":
		k.Deletes = true
	case h.Method == "POST":
		k.refuse(h)
		k.head(h)
	}
}

// refuse stores an HTTP error as the response to the last request, unless the request has a response.
func (k *loading) refuse(h *tape.HTTP) {
	i := k.last[wire.Send]
	if h.Status >= 400 && i != None && k.Entry(i).Kind == wire.Request && k.Entry(i).Answer == None {
		k.refused[i] = h.Status
	}
}

// head stores the header lines of h with the entry that h carried.
func (k *loading) head(h *tape.HTTP) {
	n := k.carried(h)
	if n < 0 {
		return
	}
	i := k.posted[n].i
	k.posted = slices.Delete(k.posted, n, n+1)
	var own [][2]string
	for _, line := range h.Request {
		if !ofTransport(line[0]) && !strings.Contains(line[1], tape.Redacted) {
			own = append(own, line)
		}
	}
	if len(own) == 0 {
		return
	}
	if slices.Equal(k.headed, own) {
		own = k.headed // entries with equal headers share one slice
	}
	k.heads[i], k.headed = own, own
}

// carried returns the position in posted of the message that h carried, or -1. The tape has exchanges in the order of their ends. The
// length identifies the message. Without a length, it is the last message that was recorded before the start of h.
func (k *loading) carried(h *tape.HTTP) int {
	length := -1
	for _, line := range h.Request {
		if strings.EqualFold(line[0], "Content-Length") {
			length, _ = strconv.Atoi(line[1])
		}
	}
	if n := slices.IndexFunc(k.posted, func(p posted) bool { return p.length == length }); n >= 0 {
		return n
	}
	start := time.Duration(h.Times.Start * float64(time.Second))
	for n, p := range slices.Backward(k.posted) {
		if p.at <= start {
			return n
		}
	}
	return min(len(k.posted), 1) - 1
}

// ofTransport reports whether a header line belongs to the transport or to the identity of the client.
func ofTransport(name string) bool {
	switch name = textproto.CanonicalMIMEHeaderKey(name); name {
	case "Accept", "Connection", "Cookie", "Host", "Keep-Alive", "Last-Event-Id", "Origin", "Referer", "Te", "Transfer-Encoding", "User-Agent":
		return true
	}
	return strings.HasPrefix(name, "Accept-") || strings.HasPrefix(name, "Content-") || strings.HasPrefix(name, "Sec-")
}

// refusal links the next entry e to the request that got an HTTP error with this text. e is not JSON or has no id.
func (k *loading) refusal(e *Entry, line *tape.Line, id wire.ID) {
	i := k.last[wire.Send]
	if line.Bytes == nil && (e.Kind != wire.Response || e.Own != None || string(scan.Trim(id)) != "null") {
		return
	}
	if e.Dir == wire.Recv && i != None && k.refused[i] != 0 && k.Entry(i).Answer == None {
		e.Kind, e.Own = wire.Response, i
	}
}
