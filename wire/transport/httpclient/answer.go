package httpclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpbody"
)

// answer hands the messages of an answer to recv.
func (h *httpConn) answer(resp *http.Response, recv func([]byte)) error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	good := resp.StatusCode/100 == 2
	if f := h.Redirected(resp); f != nil {
		return f
	}
	switch {
	case good && media == "text/event-stream":
		return h.broken(httpbody.Events(resp.Body, h.max, nil, recv))
	case good && (media == "application/x-ndjson" || media == "application/jsonl"):
		return h.broken(httpbody.Lines(resp.Body, h.max, recv))
	case !good:
		body := h.readRefusal(resp.Body, media)
		if isAuth(resp.StatusCode) || !isMessage(body) {
			return h.refusal(resp, body)
		}
		recv(body)
		return nil
	}
	body, err := httpbody.Read(resp.Body, resp.ContentLength, h.max)
	switch {
	case err != nil:
		return h.broken(err)
	case len(body) == 0, resp.StatusCode == http.StatusAccepted && !json.Valid(body):
		return nil // some say "Accepted" in words
	case isJSON(media) || json.Valid(body):
		recv(body)
		return nil
	}
	return h.notJSON(resp.StatusCode, media, body)
}

// isAuth reports whether a status says that authority is missing. Then the body
// does not count, whatever it is.
func isAuth(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusProxyAuthRequired
}

// nobodyThere are the statuses which mean that there is no such service at this
// address, rather than that the service failed.
var nobodyThere = map[int]bool{
	http.StatusNotFound: true, http.StatusMethodNotAllowed: true, http.StatusGone: true,
	http.StatusUnsupportedMediaType: true, http.StatusMisdirectedRequest: true, http.StatusUpgradeRequired: true,
	http.StatusBadGateway: true, http.StatusServiceUnavailable: true, http.StatusGatewayTimeout: true,
}

// refusal returns the Fault of a POST that was answered with a status and no
// message: Auth, Unreachable, or, where the server was there and failed, RPCError.
func (h *httpConn) refusal(resp *http.Response, body []byte) *wire.Fault {
	status := resp.StatusCode
	f := transport.HTTPFault(h.Where+" answered", resp, body)
	f.Unreached = status == http.StatusServiceUnavailable
	if f.Kind == wire.Unreachable && status >= 400 && !nobodyThere[status] {
		f.Kind = wire.RPCError
	}
	return f
}

// readRefusal reads the body of an answer that is no success, as far as it comes
// in time: the status has come and counts, whatever becomes of the body. What
// does not claim to be JSON is read by people, who need its beginning only.
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

// broken returns what became of a reply that had begun: a Fault as it is, and all
// else the end of the connection that carried it.
func (h *httpConn) broken(err error) error {
	if err == nil || wire.AsFault(err) != nil {
		return err
	}
	if err == io.ErrUnexpectedEOF {
		err = errors.New("the peer hung up in the middle of an answer")
	} else if isMischunked(err) {
		return wire.NewFault(wire.Protocol, h.Where+": the answer is not HTTP: "+err.Error(), err)
	}
	return closedFault(h.Where, &wire.CloseError{Err: transport.Innermost(err)})
}

// isMischunked reports whether the lengths of a body's chunks make no sense, for which
// net/http has no type.
func isMischunked(err error) bool {
	return strings.Contains(err.Error(), "chunk")
}

func (h *httpConn) notJSON(status int, media string, body []byte) error {
	if media == "" {
		media = "something"
	}
	msg := fmt.Sprintf("%s answered with %s that is not JSON", h.Where, media)
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

// isMessage reports whether the body of a refusal is itself the answer: many
// servers send a JSON-RPC error with a status of 4xx or 5xx.
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
