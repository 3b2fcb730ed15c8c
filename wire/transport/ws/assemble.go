package ws

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/transport/httpclient"
)

// An assembler builds messages from the frames of one direction (RFC 6455, section 5). It does not change their bytes.
type assembler struct {
	most     int
	inflater *inflater // nil without compression
	message  func(msg []byte, binary bool)
	unseen   func(why string)
	closed   func(how *wire.CloseError)

	frame
	control       []byte      // the payload of the current control frame
	msg           []byte      // the payload of the current message that has arrived so far
	first         byte        // the first byte of the first frame, or 0
	long          bool        // the message exceeds the limit
	closeReceived atomic.Bool // a close frame has arrived
}

// between reports whether there is no incomplete frame.
func (a *assembler) between() bool { return len(a.head) == 0 }

// take processes the next bytes.
func (a *assembler) take(b []byte) { a.read(b, a) }

// begin starts a frame.
func (a *assembler) begin() {
	a.control = a.control[:0]
	if op := a.opcode(); op == 1 || op == 2 {
		a.first, a.msg, a.long = a.head[0], a.msg[:0], false
	}
}

// payload processes bytes of the payload.
func (a *assembler) payload(b []byte) {
	if a.opcode()&0x08 != 0 { // control frames may be between the frames of a message
		a.control = append(a.control, b...)
	} else if a.long = a.long || len(a.msg)+len(b) > a.most; !a.long {
		a.msg = append(a.msg, b...)
	}
}

// end ends a frame.
func (a *assembler) end() {
	switch op := a.opcode(); {
	case op == 8:
		a.close()
	case op < 8 && a.head[0]&0x80 != 0 && a.first != 0:
		a.whole()
		if a.first = 0; cap(a.msg) > largeMessage {
			a.msg = nil
		}
	}
}

// close processes a close frame.
func (a *assembler) close() {
	const noStatus = 1005
	how := &wire.CloseError{Code: noStatus}
	if len(a.control) >= 2 {
		how.Code, how.Reason = int(binary.BigEndian.Uint16(a.control)), string(a.control[2:])
	}
	how.Clean = how.Code == 1000 || how.Code == 1001 || how.Code == noStatus
	a.closeReceived.Store(true)
	a.closed(how)
}

// whole handles a complete message.
func (a *assembler) whole() {
	const compressed = 0x40
	msg, err := a.msg, error(nil)
	switch {
	case a.long:
		err = fmt.Errorf("it is longer than %d bytes", a.most)
		if a.first&compressed != 0 && a.inflater != nil {
			a.inflater.lost = !a.inflater.fresh
		}
	case a.first&0x30 != 0 || a.first&compressed != 0 && a.inflater == nil:
		err = errors.New("it uses an extension that was not negotiated")
	case a.first&compressed != 0:
		msg, err = a.inflater.inflate(msg, a.most)
	}
	if err != nil {
		a.unseen(err.Error())
		return
	}
	a.message(msg, a.first&0x0f == 2)
}

// An inflater decompresses the messages of one direction (RFC 7692).
type inflater struct {
	fresh  bool   // each message is compressed on its own
	window []byte // the data to which later messages can refer
	r      io.ReadCloser
	out    bytes.Buffer
	lost   bool // a message was not decompressed, so later messages cannot be decompressed either
}

// window is how far back, in bytes, a compressed message can refer.
const window = 32 << 10

// inflaters returns an inflater for each direction, as agreed in the response to the upgrade. They are nil if messages
// are not compressed.
func inflaters(response http.Header) (of [2]*inflater) {
	for _, line := range response["Sec-Websocket-Extensions"] {
		for extension := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(extension, ";")
			if strings.TrimSpace(name) != httpclient.Deflate {
				continue
			}
			of[wire.Send] = &inflater{fresh: strings.Contains(params, "client_no_context_takeover")}
			of[wire.Recv] = &inflater{fresh: strings.Contains(params, "server_no_context_takeover")}
		}
	}
	return of
}

// inflate returns the decompressed message, which is valid until the next call.
func (i *inflater) inflate(msg []byte, most int) ([]byte, error) {
	if i.lost {
		return nil, errors.New("it refers to a message that could not be decompressed")
	}
	const end = "\x00\x00\xff\xff" + "\x01\x00\x00\xff\xff" // the end, which the sender has omitted, and an empty last block
	in := io.MultiReader(bytes.NewReader(msg), strings.NewReader(end))
	if i.r == nil {
		i.r = flate.NewReaderDict(in, i.window)
	} else if err := i.r.(flate.Resetter).Reset(in, i.window); err != nil {
		return nil, err
	}
	i.out.Reset()
	n, err := io.Copy(&i.out, io.LimitReader(i.r, int64(most)+1))
	if err == nil && n > int64(most) {
		err = fmt.Errorf("it is longer than %d bytes", most)
	}
	if !i.fresh {
		i.lost = err != nil
		i.window = append(i.window, i.out.Bytes()...)
		i.window = append(i.window[:0], i.window[max(len(i.window)-window, 0):]...)
	}
	return i.out.Bytes(), err
}
