package transcript

import (
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
)

// This file handles the HTTP exchanges on a track: what the recorded client sent in addition to its messages.

// Head returns the header lines that the recorded client sent with entry i in addition to those of the transport.
func (t *Track) Head(i int32) [][2]string { return t.heads[i] }

// Refused returns the HTTP status with which the server rejected the request at entry i, or 0.
func (t *Track) Refused(i int32) int { return t.refused[i] }

// A posted is an entry that may have been the body of an HTTP exchange that comes later on the tape.
type posted struct {
	i      int32
	length int
	at     time.Duration
}

// maxPosted limits the number of entries that wait for their exchange, because with other transports there are no
// exchanges.
const maxPosted = 64

// sent stores the next entry e if it is the only message in its exchange.
func (k *loading) sent(e *Entry, line *tape.Line) {
	if e.Dir != wire.Send || e.elem > 0 {
		return
	}
	if len(k.posted) == maxPosted {
		k.posted = k.posted[1:]
	}
	k.posted = append(k.posted, posted{int32(k.Len()), len(line.Payload()), line.Time})
}

// exchange evaluates h, an HTTP exchange of the client.
func (k *loading) exchange(h *tape.HTTP) {
	switch {
	case h == nil:
	case h.Method == "GET" && h.Status == 200 && k.Events == None && !k.isRefused():
		k.Events = int32(k.Len())
	case h.Method == "DELETE":
		k.Deletes = true
	case h.Method == "POST":
		k.refuse(h)
		k.head(h)
	}
}

// isRefused reports whether the last request was rejected with an HTTP error and has no response. An event stream that the client
// requests then belongs to the older HTTP with SSE of MCP: the transport itself requests the stream, and the response is in it.
func (k *loading) isRefused() bool {
	i := k.last[wire.Send]
	return i != None && k.refused[i] != 0 && k.Entry(i).Answer == None
}

// refuse stores an HTTP error as the response to the last request, unless that request already has a response.
func (k *loading) refuse(h *tape.HTTP) {
	i := k.last[wire.Send]
	if h.Status >= 400 && i != None && k.Entry(i).Kind == wire.Request && k.Entry(i).Answer == None {
		k.refused[i] = h.Status
	}
}

// head stores the header lines of h with the entry that was its body.
func (k *loading) head(h *tape.HTTP) {
	n := k.carried(h)
	if n < 0 {
		return
	}
	i := k.posted[n].i
	k.posted = slices.Delete(k.posted, n, n+1)
	var own [][2]string
	for _, line := range h.Request {
		if !ofTransport(line[0]) && !strings.Contains(line[1], redact.Mark) {
			own = append(own, line)
		}
	}
	if len(own) == 0 {
		return
	}
	if slices.Equal(k.headed, own) {
		own = k.headed // entries with the same header lines share one slice
	}
	k.heads[i], k.headed = own, own
}

// carried returns the position in posted of the message that was the body of h, or -1. On the tape, exchanges are in the order in
// which they ended. The length of the body identifies the message. If the length is not known, carried returns the last message that
// was recorded before h started.
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

// ofTransport reports whether a header line is sent by the transport itself, or identifies the client.
func ofTransport(name string) bool {
	switch name = textproto.CanonicalMIMEHeaderKey(name); name {
	case "Accept", "Connection", "Cookie", "Host", "Keep-Alive", "Last-Event-Id", "Origin", "Referer", "Te", "Transfer-Encoding", "User-Agent":
		return true
	}
	return strings.HasPrefix(name, "Accept-") || strings.HasPrefix(name, "Content-") || strings.HasPrefix(name, "Sec-")
}

// refusal makes the next entry e the response to a request that was rejected with an HTTP error. e is the body of that
// error, which is not JSON or has no id.
func (k *loading) refusal(e *Entry, line *tape.Line, id wire.ID) {
	i := k.last[wire.Send]
	if line.Bytes == nil && (e.Kind != wire.Response || e.Own != None || string(scan.Trim(id)) != "null") {
		return
	}
	if e.Dir == wire.Recv && i != None && k.refused[i] != 0 && k.Entry(i).Answer == None {
		e.Kind, e.Own = wire.Response, i
	}
}
