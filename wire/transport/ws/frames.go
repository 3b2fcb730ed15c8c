package ws

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net/http"
	"sync"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// errMasked is the error for a masked frame from a server, which the library would accept: "A client MUST close a
// connection if it detects a masked frame" (RFC 6455, section 5.1).
var errMasked = errors.New("the peer sent a masked frame, which servers must not send")

// errHuge is the error for a frame that is longer than --max-message. The library would first read as much of it as is
// allowed.
var errHuge = errors.New("the peer sent a frame over the limit of --max-message")

// An upgrader inserts a frameReader between the library and the connection after an upgrade.
type upgrader struct {
	http.RoundTripper
	where  string // the redacted address
	watch  *transport.Watch
	most   int          // the maximum size of a message in bytes
	frames *frameReader // the frameReader of the last upgrade
}

// RoundTrip implements http.RoundTripper.
func (u *upgrader) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := u.RoundTripper.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		// rpcx offers no extension. The library's error would not name the one that the server chose.
		if chosen := resp.Header.Get("Sec-Websocket-Extensions"); chosen != "" {
			resp.Body.Close()
			return nil, wire.NewFault(wire.Protocol, u.where+": bad handshake: the server chose the extension "+chosen+", which rpcx does not use", nil)
		}
		if rwc, ok := resp.Body.(io.ReadWriteCloser); ok {
			if dirs := watchFrames(u.watch, ""); dirs[0] != nil {
				rwc = &shownFrames{rwc, dirs}
			}
			u.frames = &frameReader{ReadWriteCloser: rwc, most: uint64(u.most)}
			resp.Body = u.frames
		}
	}
	return resp, err
}

// A frameReader reads what a server sends after the upgrade. Nearly everything is messages of one frame, which Message
// returns from its buffer. The library reads everything else through Read: control frames, fragmented and long
// messages, and protocol errors. Read returns one frame at a time, so the library buffers nothing between messages. At
// the first frame that is masked or too long, Read fails.
type frameReader struct {
	io.ReadWriteCloser
	most uint64 // the maximum size of a frame in bytes

	mu   sync.Mutex // Recv reads, and the library's Close may read at the same time
	buf  []byte
	in   []byte // the part of buf that has not been read
	lent bool   // whether the caller of Message may still use the bytes
	left uint64 // how many bytes of the current frame Read has not returned yet
	err  error  // the error of the connection, which Read returns after the bytes in in

	writing   sync.Mutex // held during a Write; guards the following fields
	out       []byte     // the frame that is being built
	closeSent bool       // the library has closed the WebSocket
}

// A message of one frame begins with one of these bytes: FIN is set, and the reserved bits are not.
const (
	wholeText   = 0x81
	wholeBinary = 0x82
)

// Message waits for the next message. It returns the message if that is one text frame (or a binary frame, if binary is
// set), fits into the buffer, and is at most longest bytes long. The bytes are valid until the next call. If ok is
// false, the library must read the next frame.
func (f *frameReader) Message(binary bool, longest int) (msg []byte, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lent = false
	for {
		msg, ok, plain := f.next(binary, longest)
		if ok || !plain || f.err != nil || !f.fill() {
			return msg, ok
		}
	}
}

// Buffered appends messages to msgs that Message would return without waiting, until msgs has most elements. The bytes
// are valid until the next call of Message.
func (f *frameReader) Buffered(msgs [][]byte, most int, binary bool, longest int) [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(msgs) < most {
		msg, ok, _ := f.next(binary, longest)
		if !ok {
			break
		}
		msgs = append(msgs, msg)
	}
	return msgs
}

// next removes a complete message from the buffer and returns it. plain is false if Message cannot return the next
// message. It is true if it can, or if that is not known yet.
func (f *frameReader) next(binary bool, longest int) (msg []byte, ok, plain bool) {
	if f.left > 0 {
		return nil, false, false
	}
	head, size, known := frameHead(f.in)
	end := uint64(head) + size
	switch {
	case len(f.in) > 0 && f.in[0] != wholeText && !(binary && f.in[0] == wholeBinary):
		return nil, false, false
	case known && (f.in[1]&0x80 != 0 || size > uint64(longest) || end > wsBuffer):
		return nil, false, false
	case known && end <= uint64(len(f.in)):
		msg, f.in = f.in[head:end:end], f.in[end:]
		f.lent = true
		return msg, true, true
	}
	return nil, false, true
}

// fill reads more bytes into the buffer. It returns false if there are no more.
func (f *frameReader) fill() bool {
	if f.buf == nil || f.lent {
		f.buf, f.lent = make([]byte, wsBuffer), false // the caller may still use the old bytes
	}
	kept := copy(f.buf, f.in)
	n, err := f.ReadWriteCloser.Read(f.buf[kept:])
	f.in, f.err = f.buf[:kept+n], err
	return n > 0
}

// Read implements io.Reader. It never returns bytes of more than one frame.
func (f *frameReader) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.left == 0 {
		head, size, known := frameHead(f.in)
		switch {
		case len(f.in) > 1 && f.in[1]&0x80 != 0:
			f.in, f.err = nil, errMasked
		case known && size > f.most && size <= math.MaxInt64: // the library rejects larger sizes
			f.in, f.err = nil, errHuge
		case known:
			f.left = uint64(head) + min(size, math.MaxInt64)
		case f.err == nil:
			f.fill()
		case len(f.in) == 0:
			return 0, f.err
		default: // the connection has ended inside a head
			f.left = uint64(len(f.in))
		}
	}
	if len(f.in) == 0 && f.err == nil {
		f.fill()
	}
	if len(f.in) == 0 {
		return 0, f.err
	}
	n := copy(p, f.in[:min(f.left, uint64(len(f.in)))])
	f.in, f.left = f.in[n:], f.left-uint64(n)
	return n, nil
}

// frameHead returns the lengths of the head and of the payload, for the frame that begins b (RFC 6455, section 5.2).
// The length of the head does not include the masking key. known is false if b is too short.
func frameHead(b []byte) (head int, size uint64, known bool) {
	if len(b) < 2 {
		return 0, 0, false
	}
	switch size = uint64(b[1] & 0x7f); size {
	case 126:
		if len(b) < 4 {
			return 0, 0, false
		}
		return 4, uint64(binary.BigEndian.Uint16(b[2:])), true
	case 127:
		if len(b) < 10 {
			return 0, 0, false
		}
		return 10, binary.BigEndian.Uint64(b[2:]), true
	}
	return 2, size, true
}

// A frame is the state of the current frame in one direction (RFC 6455, section 5.2).
type frame struct {
	head         []byte // the part that has arrived
	headComplete bool   // the head is complete
	size         uint64 // the length of the payload
	received     uint64 // how many bytes of the payload have arrived
	plain        []byte // unmasked bytes
}

// A frameSink receives the parts of frames.
type frameSink interface {
	begin()           // the head is complete
	payload(b []byte) // receives unmasked bytes, which are valid only during the call
	end()
}

// read processes the next bytes, and passes them to a sink.
func (f *frame) read(b []byte, to frameSink) {
	for len(b) > 0 {
		if !f.headComplete {
			f.head, b = append(f.head, b[0]), b[1:]
			if f.headComplete = f.complete(); f.headComplete {
				to.begin()
			}
		} else {
			n := min(f.size-f.received, uint64(len(b)))
			to.payload(f.unmasked(b[:n]))
			f.received, b = f.received+n, b[n:]
		}
		if f.headComplete && f.received == f.size {
			to.end()
			f.head, f.headComplete = f.head[:0], false
		}
	}
}

// complete reports whether the head of the frame is complete. It then starts the payload.
func (f *frame) complete() bool {
	head, size, known := frameHead(f.head)
	if known && f.head[1]&0x80 != 0 {
		head += 4 // the masking key
	}
	f.size, f.received = size, 0
	return known && len(f.head) == head
}

// unmasked returns bytes of the payload after it has removed the mask.
func (f *frame) unmasked(b []byte) []byte {
	if f.head[1]&0x80 == 0 {
		return b
	}
	f.plain = append(f.plain[:0], b...)
	mask := f.head[len(f.head)-4:]
	for i := range f.plain {
		f.plain[i] ^= mask[(f.received+uint64(i))%4]
	}
	return f.plain
}

// opcode returns the opcode of the frame.
func (f *frame) opcode() byte { return f.head[0] & 0x0f }
