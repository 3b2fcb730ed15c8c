package httpclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"strings"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpbody"
)

// A Relay forwards HTTP requests to one address. It keeps the method, the query, the headers and the body of a request,
// and the status, the headers and the body of a response. It does not forward headers that apply only to one connection
// (RFC 9110, section 7.6.1), or request encodings that rpcx cannot decode. It is safe for concurrent use.
type Relay struct {
	d      *Dialer
	client *http.Client
	max    int
	under  string
}

// NewRelay returns a Relay to the HTTP address a. The part of a request's path that follows under is appended to the
// path of a. It does not connect.
func NewRelay(a transport.Address, c transport.Config, under string) (*Relay, error) {
	c = c.WithDefaults()
	d, err := NewDialer(a, c)
	if err != nil {
		return nil, err
	}
	r := &Relay{d: d, client: d.Client(nil), max: c.MaxMessage, under: strings.TrimSuffix(under, "/")}
	d.transport.DisableCompression = true // responses are not decoded
	r.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return r, nil
}

// Close closes idle connections.
func (r *Relay) Close() { r.d.CloseIdle() }

// Pass forwards a request, whose body has already been read, and then the response. tap receives each decoded message
// before it is forwarded; a message is a whole body, a line, or an event. tap may be nil. The error is the reason why
// there was no response, or a Fault of kind Protocol if tap did not receive everything. In both cases, the client has
// received a response.
func (r *Relay) Pass(w http.ResponseWriter, req *http.Request, body []byte, tap wire.Tap) error {
	if tap == nil {
		tap = func(wire.Direction, []byte) {}
	}
	redact.SentHeader(req.Header)
	sent, unread := httpbody.DecodedBytes(req.Header.Get("Content-Encoding"), body, r.max)
	if msg := httpbody.Trim(sent); len(msg) > 0 && unread == nil {
		tap(wire.Send, msg)
	}
	out, err := r.request(req, body)
	if err != nil {
		return r.unreached(w, req, err)
	}
	resp, err := r.client.Do(out)
	if err != nil {
		return r.unreached(w, req, err)
	}
	defer resp.Body.Close()
	maps.Copy(w.Header(), endToEnd(resp.Header))
	err = r.answer(w, resp, tap)
	if err == nil && unread != nil {
		err = unseen("a request", unread)
	}
	return err
}

// unreached sends the response to a request that could not be forwarded, and returns the reason. It returns nil if the
// client has disconnected.
func (r *Relay) unreached(w http.ResponseWriter, req *http.Request, err error) error {
	http.Error(w, "cannot reach the address", http.StatusBadGateway)
	if req.Context().Err() != nil {
		return nil
	}
	return r.d.Fault(req.Context(), err)
}

// unseen returns the Fault for a body that was forwarded although rpcx could not decode it.
func unseen(which string, err error) error {
	return wire.NewFault(wire.Protocol, which+" is not on the tape: "+err.Error(), err)
}

// request returns the request that forwards req.
func (r *Relay) request(req *http.Request, body []byte) (*http.Request, error) {
	to := r.target(req)
	if query := req.URL.RawQuery; query != "" {
		to += map[bool]string{false: "?", true: "&"}[strings.Contains(to, "?")] + query
	}
	out, err := http.NewRequestWithContext(req.Context(), req.Method, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header = endToEnd(req.Header)
	for name, values := range r.d.Header {
		if _, has := out.Header[name]; !has || name != "User-Agent" {
			out.Header[name] = values
		}
	}
	const accept = "Accept-Encoding"
	if known, narrowed := httpbody.Accepted(strings.Join(out.Header[accept], ", ")); narrowed {
		out.Header.Set(accept, known)
	}
	out.Host = r.d.HostHeader
	return out, nil
}

// target returns the URL, without a query, to which req is forwarded.
func (r *Relay) target(req *http.Request) string {
	rest := strings.Trim(strings.TrimPrefix(req.URL.EscapedPath(), r.under), "/")
	if rest == "" {
		return r.d.URL
	}
	to, query, has := strings.Cut(r.d.URL, "?")
	to = strings.TrimSuffix(to, "/") + "/" + rest
	if has {
		to += "?" + query
	}
	return to
}

// endToEnd returns a copy of h without the headers that apply only to one connection.
func endToEnd(h http.Header) http.Header {
	h = h.Clone()
	for _, names := range h["Connection"] {
		for name := range strings.SplitSeq(names, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"} {
		h.Del(name)
	}
	return h
}

// answer forwards a response.
func (r *Relay) answer(w http.ResponseWriter, resp *http.Response, tap wire.Tap) error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	recv := func(msg []byte) { tap(wire.Recv, msg) }
	switch media {
	case "text/event-stream":
		return r.stream(w, resp, func(in io.Reader) error { return httpbody.Events(in, r.max, nil, recv) })
	case "application/x-ndjson", "application/jsonl":
		return r.stream(w, resp, func(in io.Reader) error { return httpbody.Lines(in, r.max, recv) })
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(r.max)+1))
	text, unread := httpbody.DecodedBytes(resp.Header.Get("Content-Encoding"), body, r.max)
	msg := httpbody.Trim(text)
	isJSON := scan.Valid(msg, wire.DefaultMaxDepth) == nil
	if len(msg) > 0 && unread == nil && (isJSON || resp.StatusCode != http.StatusAccepted) { // some servers send the text "Accepted" as the body
		recv(msg)
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(body)
	if err == nil && len(body) > r.max {
		_, err = io.Copy(w, resp.Body)
	}
	if err == nil && unread != nil {
		return unseen("a response", unread)
	}
	return r.cut(resp.Request.Context(), err)
}

// stream forwards a body while it arrives. read decodes as much of it as possible.
func (r *Relay) stream(w http.ResponseWriter, resp *http.Response, read func(io.Reader) error) error {
	w.WriteHeader(resp.StatusCode)
	p := &passing{body: resp.Body, w: w}
	p.pass()
	in, unread := httpbody.Decoded(resp.Header.Get("Content-Encoding"), p)
	what := "a response"
	if unread == nil {
		what = "the rest of a response"
		if unread = read(in); errors.Is(unread, io.ErrUnexpectedEOF) { // the end of the compressed data is missing
			unread = nil
		}
	}
	_, _ = io.Copy(io.Discard, p)
	if errors.Is(p.err, io.EOF) && unread != nil && !errors.Is(unread, io.EOF) {
		return unseen(what, unread)
	}
	if errors.Is(p.err, io.EOF) || errors.Is(p.err, errClientGone) {
		return nil
	}
	return r.cut(resp.Request.Context(), p.err)
}

var errClientGone = errors.New("the client has disconnected")

// A passing forwards the data of each Read at the next Read, when its reader has processed the data.
type passing struct {
	body io.Reader
	w    http.ResponseWriter
	last []byte
	err  error // why reading ends
}

// Read implements io.Reader.
func (p *passing) Read(b []byte) (n int, err error) {
	p.pass()
	if p.err != nil {
		return 0, p.err
	}
	n, p.err = p.body.Read(b)
	p.last = append(p.last, b[:n]...)
	return n, nil
}

func (p *passing) pass() {
	if _, err := p.w.Write(p.last); err != nil {
		p.err = errClientGone
	}
	_ = http.NewResponseController(p.w).Flush()
	p.last = p.last[:0]
}

// cut returns why a response ended too early. It returns nil if the client has disconnected.
func (r *Relay) cut(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return broken(r.d.Where, err)
}
