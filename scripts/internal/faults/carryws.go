//go:build linux

package main

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
)

const (
	opContinue, opText, opClose, opPing, opPong = 0, 1, 8, 9, 10
	fin                                         = 0x80
)

// frame returns a server's WebSocket frame (RFC 6455, section 5.2).
func frame(first byte, payload []byte) []byte {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return append(b, payload...)
}

// readFrame reads a client's frame.
func readFrame(r io.Reader) (op byte, payload []byte, err error) {
	var h [2]byte
	if _, err = io.ReadFull(r, h[:]); err != nil {
		return 0, nil, err
	}
	n := uint64(h[1] & 0x7f)
	switch n {
	case 126:
		var b [2]byte
		_, err = io.ReadFull(r, b[:])
		n = uint64(binary.BigEndian.Uint16(b[:]))
	case 127:
		var b [8]byte
		_, err = io.ReadFull(r, b[:])
		n = binary.BigEndian.Uint64(b[:])
	}
	var mask [4]byte
	if err == nil && h[1]&0x80 != 0 {
		_, err = io.ReadFull(r, mask[:])
	}
	if err != nil {
		return 0, nil, err
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(r, payload)
	for i := range payload {
		payload[i] ^= mask[i%4]
	}
	return h[0] & 0xf, payload, err
}

// overWS sends one message per text frame after the upgrade.
func overWS(p *peer, l *link) error {
	r, err := http.ReadRequest(l.in)
	for err == nil && p.fault.kind == rejected { // the client may repeat its request on this connection
		if err = p.send(l, unit{phase: head}); err != errRejected {
			break // the client has repeated its request
		}
		r, err = http.ReadRequest(l.in)
	}
	if err != nil {
		return err
	}
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	up := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n\r\n"
	text := func(s string) []byte { return frame(fin|opText, []byte(s)) }
	ask := func() ([]byte, error) {
		for {
			op, payload, err := readFrame(l.in)
			switch {
			case err != nil:
				return nil, err
			case op == opText:
				return payload, nil
			case op == opPing:
				err = l.write(frame(fin|opPong, payload))
			case op == opClose && !p.fault.staysOpen:
				l.write(frame(fin|opClose, payload))
				return nil, io.EOF
			}
			if err != nil {
				return nil, err
			}
		}
	}
	in := read(l, ask)
	if err := p.send(l, unit{bytes: []byte(up), phase: head, wrap: text, endless: endlessHead}); err != nil {
		return err
	}
	return converse(p, in, func(s string, at phase) error {
		return p.send(l, unit{bytes: text(s), text: s, phase: at, wrap: text, endless: func(i int) []byte {
			if i == 0 {
				return frame(opText, []byte(`{"jsonrpc":"2.0","id":1,"result":"`))
			}
			return frame(opContinue, filler)
		}})
	})
}

// endlessHead returns parts of an HTTP response head that does not end.
func endlessHead(i int) []byte {
	if i == 0 {
		return []byte("HTTP/1.1 101 Switching Protocols\r\n")
	}
	return append(append([]byte("X-Filler: "), filler...), "\r\n"...)
}
