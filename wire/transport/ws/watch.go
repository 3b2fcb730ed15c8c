package ws

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/transport"
)

// watchFrames returns an object for each direction of a WebSocket that reports its frames to w. They are nil if frames
// are not shown.
func watchFrames(w *transport.Watch, who string) (dirs [2]*frames) {
	if w == nil || w.Piece == nil {
		return dirs
	}
	for _, d := range []wire.Direction{wire.Send, wire.Recv} {
		dirs[d] = &frames{report: func(p wire.Piece) { p.Who, p.Dir = who, d; w.Piece(p) }}
	}
	return dirs
}

// A frames reports each complete frame in one direction of a WebSocket (RFC 6455, section 5.2).
type frames struct {
	report func(wire.Piece)
	frame
	shown   []byte        // the excerpt of the payload
	message redact.Stream // redacts the message that the payload belongs to
}

// opcodes contains the name of each opcode.
var opcodes = map[byte]string{0: "continuation", 1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong"}

// take processes the next bytes.
func (f *frames) take(b []byte) { f.read(b, f) }

// begin starts a frame.
func (f *frames) begin() {
	f.shown = f.shown[:0]
	if op := f.opcode(); op == 1 || op == 2 {
		f.message = redact.Stream{}
	}
}

// payload processes bytes of the payload.
func (f *frames) payload(b []byte) {
	if f.opcode()&0x08 == 0 { // control frames may be between the frames of a message
		b = f.message.Append(nil, b)
	}
	f.show(b)
}

// show adds bytes to the excerpt of the payload.
func (f *frames) show(shown []byte) {
	f.shown = append(f.shown, shown[:min(len(shown), transport.PieceShown-len(f.shown))]...)
}

// end reports the frame.
func (f *frames) end() { f.reportFrame("") }

// reportFrame reports the frame. more is added to its description.
func (f *frames) reportFrame(more string) {
	op := f.opcode()
	name := opcodes[op]
	if name == "" {
		name = fmt.Sprintf("reserved (opcode %d)", op)
	}
	text := name + " frame"
	if f.head[0]&0x80 == 0 {
		text += ", not the last frame of its message"
	}
	if f.head[0]&0x70 != 0 {
		text += fmt.Sprintf(", reserved bits %03b", f.head[0]>>4&7)
	}
	if f.head[1]&0x80 != 0 {
		text += ", masked"
	}
	shown := f.shown
	if op == 8 && len(shown) >= 2 {
		text += fmt.Sprintf(", code %d", binary.BigEndian.Uint16(shown))
		shown = shown[2:]
	}
	if shown = redact.Spans(shown); op >= 8 {
		shown = redact.Text(shown)
	}
	f.report(wire.Piece{Frame: text + more, Size: int(min(f.size, 1<<62)), Shown: shown})
}

// cutOff reports a frame that is incomplete.
func (f *frames) cutOff() {
	switch {
	case f.headComplete:
		f.reportFrame(fmt.Sprintf(", cut off after %d bytes", f.received))
	case len(f.head) > 0:
		f.report(wire.Piece{Frame: "an incomplete frame head", Size: len(f.head), Shown: f.head})
	}
	f.head, f.headComplete = f.head[:0], false
}

// A shownFrames is a connection that reports the frames which pass through it.
type shownFrames struct {
	io.ReadWriteCloser
	dirs [2]*frames
}

func (s *shownFrames) Read(p []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(p)
	s.dirs[wire.Recv].take(p[:n])
	if err != nil {
		s.dirs[wire.Recv].cutOff()
	}
	return n, err
}

func (s *shownFrames) Write(p []byte) (int, error) {
	s.dirs[wire.Send].take(p)
	return s.ReadWriteCloser.Write(p)
}

// A shownUpgrade is a ResponseWriter for an upgrade. The connection that Hijack returns reports the frames.
type shownUpgrade struct {
	http.ResponseWriter
	dirs [2]*frames
}

// Hijack implements http.Hijacker.
func (s shownUpgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(s.ResponseWriter).Hijack()
	if err != nil {
		return conn, rw, err
	}
	early, _ := rw.Reader.Peek(rw.Reader.Buffered()) // the bytes that follow the client's request
	s.dirs[wire.Recv].take(early)
	shown := &shownConn{conn, shownFrames{conn, s.dirs}}
	rw.Writer.Reset(shown)
	return shown, rw, nil
}

// A shownConn is the connection below a listener's WebSocket.
type shownConn struct {
	net.Conn
	frames shownFrames // reports the frames on Conn
}

func (s *shownConn) Read(p []byte) (int, error)  { return s.frames.Read(p) }
func (s *shownConn) Write(p []byte) (int, error) { return s.frames.Write(p) }
