package httpclient

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpbody"
	"rpcx/wire/transport/stream"
)

// answer passes the messages in a response to recv.
func (h *httpConn) answer(resp *http.Response, recv func([]byte)) error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	good := resp.StatusCode/100 == 2
	if f := h.Redirected(resp); f != nil {
		return f
	}
	switch {
	case good && media == "text/event-stream":
		return broken(h.Where, httpbody.Events(resp.Body, h.max, nil, recv))
	case good && (media == "application/x-ndjson" || media == "application/jsonl"):
		return broken(h.Where, httpbody.Lines(resp.Body, h.max, recv))
	case !good:
		body := h.readRefusal(resp.Body, media)
		if f := h.refusal(resp, body); f.Kind == wire.Auth || !isMessage(body) { // without authorization, the body does not count
			return f
		}
		recv(body)
		return nil
	}
	body, err := httpbody.Read(resp.Body, resp.ContentLength, h.max)
	switch {
	case err != nil:
		return broken(h.Where, err)
	case len(body) == 0, resp.StatusCode == http.StatusAccepted && !json.Valid(body):
		return nil // some servers send the text "Accepted" as the body
	case isJSON(media) || json.Valid(body):
		recv(body)
		return nil
	}
	return h.notJSON(resp.StatusCode, media, body)
}

// noSuchService contains the statuses of an address that does not offer the service. Other statuses come from a service
// that failed.
var noSuchService = map[int]bool{
	http.StatusNotFound: true, http.StatusMethodNotAllowed: true, http.StatusGone: true,
	http.StatusUnsupportedMediaType: true, http.StatusMisdirectedRequest: true, http.StatusUpgradeRequired: true,
	http.StatusBadGateway: true, http.StatusServiceUnavailable: true, http.StatusGatewayTimeout: true,
}

// refusal returns the Fault for a POST that was answered with a status but without a message. Its kind is Auth,
// Unreachable, or RPCError if the server failed.
func (h *httpConn) refusal(resp *http.Response, body []byte) *wire.Fault {
	status := resp.StatusCode
	if status == http.StatusProxyAuthRequired {
		if p, _ := stream.Forwarder(h.c.Route, h.a, resp.Request.URL); p != nil {
			return stream.ProxyRefused(p, resp, body)
		}
	}
	f := transport.HTTPFault(h.Where, resp, body)
	f.Unreached = status == http.StatusServiceUnavailable
	if f.Kind == wire.Unreachable && status >= 400 && !noSuchService[status] {
		f.Kind = wire.RPCError
	}
	return f
}

// readRefusal reads as much of the body of a failed response as arrives in time. The status is valid even if the body
// is broken. Unless the body is JSON, it keeps only the beginning, for an error message.
func (h *httpConn) readRefusal(body io.ReadCloser, media string) []byte {
	defer time.AfterFunc(refusalTimeout, func() { body.Close() }).Stop()
	most := h.max
	if !isJSON(media) {
		most = min(most, 64<<10)
	}
	b, _ := io.ReadAll(io.LimitReader(body, int64(most)))
	return bytes.TrimSpace(b)
}

const refusalTimeout = time.Second

// broken returns why a response ended too early. A Fault is returned unchanged; any other error becomes the end of the
// connection.
func broken(where string, err error) error {
	if err == nil || wire.AsFault(err) != nil {
		return err
	}
	if err == io.ErrUnexpectedEOF {
		err = errCutOff
	} else if why := transport.NotHTTP(err); why != "" {
		return wire.NewFault(wire.Protocol, where+": "+why, err)
	}
	return closedFault(where, &wire.CloseError{Err: transport.Innermost(err)})
}

var errCutOff = errors.New("the peer closed the connection in the middle of a response")

func (h *httpConn) notJSON(status int, media string, body []byte) error {
	body = redact.KnownBytes(body)
	msg := fmt.Sprintf("%s sent invalid JSON (Content-Type: %s)", h.Where, cmp.Or(media, "none"))
	if line := transport.FirstLine(body); line != "" {
		msg += ": " + line
	}
	f := wire.NewFault(wire.Protocol, msg, nil)
	f.HTTP = &wire.HTTP{Status: status, Body: strings.ToValidUTF8(string(body[:min(len(body), transport.MaxErrorBody)]), "\uFFFD")}
	return f
}

func isJSON(media string) bool {
	return media == "application/json" || media == "application/json-rpc" || media == "application/jsonrequest" ||
		strings.HasSuffix(media, "+json")
}

// isMessage reports whether the body of a failed response is a JSON-RPC message. Many servers send JSON-RPC errors with a
// 4xx or 5xx status.
func isMessage(body []byte) bool {
	var m struct {
		JSONRPC, ID, Result, Error json.RawMessage
	}
	if bytes.HasPrefix(body, []byte("[")) {
		var batch []json.RawMessage
		if json.Unmarshal(body, &batch) != nil || len(batch) == 0 {
			return false
		}
		body = batch[0]
	}
	if json.Unmarshal(body, &m) != nil {
		return false
	}
	return m.Result != nil || m.Error != nil && (m.JSONRPC != nil || m.ID != nil || bytes.HasPrefix(m.Error, []byte("{")))
}

// An eofNoter records whether its input has ended. net/http does not distinguish a head that was cut off from a
// malformed one.
type eofNoter struct {
	net.Conn
	ended atomic.Bool
}

// Read implements io.Reader.
func (e *eofNoter) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	if err != nil {
		e.ended.Store(true)
	}
	return n, err
}

// atEnd reports whether the input has ended. e may be nil.
func (e *eofNoter) atEnd() bool { return e != nil && e.ended.Load() }
