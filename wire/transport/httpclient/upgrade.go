package httpclient

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"

	"rpcx/wire/redact"
)

// Upgrade forwards a request for an upgrade. If the peer accepts, Upgrade forwards the peer's response to the client
// and returns both connections. The caller must forward the bytes between them and close them. Otherwise both are nil,
// and the client has received the peer's response, or status 502 with the reason.
func (r *Relay) Upgrade(w http.ResponseWriter, req *http.Request) (client, peer io.ReadWriteCloser, err error) {
	redact.SentHeader(req.Header)
	out, err := r.request(req, nil)
	if err != nil {
		return nil, nil, r.unreached(w, req, err)
	}
	ctx, cancel := context.WithTimeout(req.Context(), r.d.c.ConnectTimeout) // applies only to the handshake
	defer cancel()
	resp, err := r.client.Transport.RoundTrip(upgrading(out.WithContext(ctx), req.Header))
	if err != nil {
		return nil, nil, r.unreached(w, req, err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer resp.Body.Close()
		maps.Copy(w.Header(), endToEnd(resp.Header))
		w.WriteHeader(resp.StatusCode)
		_, err = io.Copy(w, resp.Body)
		return nil, nil, r.cut(req.Context(), err)
	}
	peer, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		return nil, nil, errors.New("net/http: the upgraded connection cannot be written to")
	}
	client, err = switched(w, resp)
	if err != nil {
		_ = peer.Close()
		return nil, nil, nil // the client has disconnected
	}
	return client, peer, nil
}

// upgrading adds the client's request for the upgrade to out. It keeps only those of the requested extensions that rpcx
// can decode.
func upgrading(out *http.Request, asked http.Header) *http.Request {
	out.Header.Set("Connection", "Upgrade")
	out.Header.Set("Upgrade", asked.Get("Upgrade"))
	const extensions = "Sec-Websocket-Extensions"
	var known []string
	for _, line := range asked[extensions] {
		for extension := range strings.SplitSeq(line, ",") {
			if extension = strings.TrimSpace(extension); strings.HasPrefix(extension, Deflate) {
				known = append(known, extension)
			}
		}
	}
	out.Header.Del(extensions)
	if len(known) > 0 {
		out.Header.Set(extensions, strings.Join(known, ", "))
	}
	return out
}

// Deflate is the name of the extension that compresses messages (RFC 7692).
const Deflate = "permessage-deflate"

// switched forwards the peer's response to the client, and returns the connection to the client.
func switched(w http.ResponseWriter, resp *http.Response) (io.ReadWriteCloser, error) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	head := &http.Response{StatusCode: resp.StatusCode, Status: resp.Status, ProtoMajor: 1, ProtoMinor: 1, Header: endToEnd(resp.Header)}
	head.Header.Set("Connection", "Upgrade")
	head.Header.Set("Upgrade", resp.Header.Get("Upgrade"))
	if err = head.Write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.WriteCloser
	}{buffered.Reader, conn}, nil
}
