package transport

import (
	"encoding/binary"
	"errors"
	"io"
	"net/http"
)

// errMasked is that a server masks what it sends, which the library does not mind: "A
// client MUST close a connection if it detects a masked frame" (RFC 6455, section 5.1).
var errMasked = errors.New("the far side sent a masked frame, which a server must not")

// An upgrader has what comes after an upgrade to WebSocket looked at for masks.
type upgrader struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (u upgrader) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := u.RoundTripper.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		if rwc, ok := resp.Body.(io.ReadWriteCloser); ok {
			resp.Body = &unmasked{ReadWriteCloser: rwc}
		}
	}
	return resp, err
}

// CloseIdleConnections hands on to the transport.
func (u upgrader) CloseIdleConnections() {
	if c, ok := u.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// An unmasked is what follows the upgrade. Its Read fails at the first masked frame.
type unmasked struct {
	io.ReadWriteCloser
	head []byte // of the frame that begins, as far as it has come
	left uint64 // bytes of the frame's payload that are still to come
	err  error
}

// Read implements io.Reader.
func (u *unmasked) Read(p []byte) (int, error) {
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.ReadWriteCloser.Read(p)
	for b := p[:n]; len(b) > 0; {
		if u.left > 0 {
			skip := min(u.left, uint64(len(b)))
			u.left -= skip
			b = b[skip:]
			continue
		}
		u.head = append(u.head, b[0])
		b = b[1:]
		if u.begun() {
			u.err = errMasked
			if whole := n - len(b) - len(u.head); whole > 0 { // the frames before it
				return whole, nil
			}
			return 0, u.err
		}
	}
	return n, err
}

// begun takes the frame's head apart, once it is whole (RFC 6455, section 5.2). It
// reports whether the frame is masked.
func (u *unmasked) begun() (masked bool) {
	if len(u.head) < 2 {
		return false
	}
	size, form := uint64(u.head[1]&0x7f), 2
	switch size {
	case 126:
		form = 4
	case 127:
		form = 10
	}
	switch {
	case u.head[1]&0x80 != 0:
		return true
	case len(u.head) < form:
		return false
	case form == 4:
		size = uint64(binary.BigEndian.Uint16(u.head[2:]))
	case form == 10:
		size = binary.BigEndian.Uint64(u.head[2:])
	}
	u.left, u.head = size, u.head[:0]
	return false
}
