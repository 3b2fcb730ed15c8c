package commands

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing/iotest"
)

// expand replaces the groups of the latest read, and x{N}.
func (p *scriptedPeer) expand(text string) string {
	for i := len(p.group) - 1; i > 0; i-- {
		text = strings.ReplaceAll(text, "$"+strconv.Itoa(i), p.group[i])
	}
	for name, v := range p.named {
		text = strings.ReplaceAll(text, "@{"+name+"}", v)
	}
	return regexp.MustCompile(`x\{(\d+)\}`).ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.Atoi(s[2 : len(s)-1])
		return strings.Repeat("x", n)
	})
}

func (p *scriptedPeer) expect(what, rest string) error {
	if what == "eof" {
		b, err := io.ReadAll(p.in)
		if err == nil && len(b) > 0 {
			err = fmt.Errorf("got %.300q", b)
		}
		return err
	}
	if what == "ws" {
		op, pattern, _ := strings.Cut(rest, " ")
		kind, b, err := p.frame()
		if kind == 8 && len(b) > 1 {
			b = append(strconv.AppendUint(nil, uint64(binary.BigEndian.Uint16(b)), 10), b[2:]...)
		}
		if err == nil && op != strconv.FormatInt(int64(kind), 16) {
			return fmt.Errorf("got a frame with opcode %x: %.300q", kind, b)
		}
		return p.match(pattern, b, err)
	}
	var b []byte
	var err error
	if what == "http" {
		b, err = p.http()
	} else {
		b, err = p.message()
	}
	if err == nil && !strings.Contains(rest, "discover") && bytes.Contains(b, []byte(`"method":"server/discover"`)) {
		if err := p.refuseDiscover(what); err != nil {
			return err
		}
		return p.expect(what, rest)
	}
	if what == "size" {
		if want, _ := strconv.Atoi(rest); err == nil && len(b) < want {
			err = fmt.Errorf("got %d bytes", len(b))
		}
		return err
	}
	if what == "again" && err == nil && p.match(rest, b, nil) != nil { // ends at the deadline of the connection
		if err := p.write("", p.sent); err != nil {
			return err
		}
		return p.expect(what, rest)
	}
	if err = p.match(rest, b, err); err == nil && what == "by" {
		p.keep(p.group[2], p.group[1])
	}
	return err
}

// refuseDiscover rejects MCP's server/discover, as a server of a version before 2026-07-28 does.
func (p *scriptedPeer) refuseDiscover(what string) error {
	if what == "http" {
		return p.raw([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
	}
	return p.write("", `{"jsonrpc":"2.0","id":"discover","error":{"code":-32601,"message":"Method not found"}}`)
}

// keep sets @{name} to value.
func (p *scriptedPeer) keep(name, value string) {
	if p.named == nil {
		p.named = map[string]string{}
	}
	p.named[name] = value
}

func (p *scriptedPeer) match(pattern string, b []byte, err error) error {
	if err != nil {
		return fmt.Errorf("%w after %.300q", err, b)
	}
	m := regexp.MustCompile(`(?s)` + pattern).FindSubmatch(b)
	if m == nil {
		return fmt.Errorf("got %.600q", b)
	}
	p.group = nil
	for _, g := range m {
		p.group = append(p.group, string(g))
	}
	return nil
}

func (p *scriptedPeer) message() ([]byte, error) {
	switch p.mode {
	case "line":
		return p.in.ReadBytes('\n')
	case "nul":
		return p.in.ReadBytes(0)
	case "seq":
		before, err := p.in.ReadBytes(0x1e)
		if err == nil && len(before) > 1 {
			err = errors.New("bytes before the record separator")
		}
		if err != nil {
			return before, err
		}
		rest, err := p.in.ReadBytes('\n')
		return append(before, rest...), err
	case "concat":
		var text json.RawMessage
		err := json.NewDecoder(iotest.OneByteReader(p.in)).Decode(&text) // reads nothing after the value
		return text, err
	case "header", "lsp":
		return p.http()
	case "netstring":
		text, err := p.in.ReadString(':')
		if err != nil {
			return []byte(text), err
		}
		n, err := strconv.Atoi(strings.TrimSuffix(text, ":"))
		b := make([]byte, n+1)
		if err == nil {
			_, err = io.ReadFull(p.in, b)
		}
		return b, err
	case "varint":
		n, err := binary.ReadUvarint(p.in)
		b := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(p.in, b)
		}
		return b, err
	}
	kind, b, err := p.frame()
	if err == nil && kind != 1 {
		err = fmt.Errorf("got a frame with opcode %x", kind)
	}
	return b, err
}

// http reads the head of an HTTP message and a body of Content-Length bytes, or the next event of an event stream.
func (p *scriptedPeer) http() ([]byte, error) {
	var all []byte
	length := 0
	for {
		line, err := p.in.ReadBytes('\n')
		if err == nil && len(all) == 0 && len(bytes.TrimSpace(line)) == 0 {
			continue // the end of a chunk
		}
		all = append(all, line...)
		if err != nil {
			return all, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
		if v, ok := strings.CutPrefix(strings.ToLower(string(line)), "content-length:"); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(v)); err != nil {
				return all, err
			}
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(p.in, body)
	return append(all, body...), err
}

func (p *scriptedPeer) upgrade(header string) error {
	head, err := p.http()
	if err != nil {
		return err
	}
	m := regexp.MustCompile(`(?i)\r\nSec-WebSocket-Key: (\S+)\r\n`).FindSubmatch(head)
	if m == nil {
		return fmt.Errorf("not a WebSocket handshake: %.600q", head)
	}
	sum := sha1.Sum(append(m[1], "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"...))
	if header != "" {
		header += "\r\n"
	}
	p.mode = "ws"
	if host := regexp.MustCompile(`(?i)\r\nHost: (\S+)\r\n`).FindSubmatch(head); host != nil {
		p.keep("host", string(host[1]))
	}
	return p.raw([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n" + header + "\r\n"))
}

func (p *scriptedPeer) raw(b []byte) error {
	_, err := p.out.Write(b)
	return err
}

func (p *scriptedPeer) write(what, text string) error {
	switch what {
	case ">":
		s, err := strconv.Unquote(text)
		if err != nil {
			return err
		}
		_, body, _ := strings.Cut(s, "\r\n\r\n")
		return p.raw([]byte(strings.Replace(s, "LENGTH", strconv.Itoa(len(body)), 1)))
	case "file":
		b, err := os.ReadFile(filepath.Join(p.cd, text))
		if err != nil {
			return err
		}
		return p.write("", strings.TrimSpace(string(b)))
	case "frame":
		op, quoted, _ := strings.Cut(text, " ")
		kind, err := strconv.ParseUint(op, 16, 8)
		if err != nil {
			return err
		}
		s, err := strconv.Unquote(quoted)
		if err != nil {
			return err
		}
		return p.send(byte(kind), []byte(s))
	}
	switch p.mode {
	case "concat":
		return p.raw([]byte(text))
	case "nul":
		return p.raw([]byte(text + "\x00"))
	case "seq":
		return p.raw([]byte("\x1e" + text + "\n"))
	case "header", "lsp":
		return p.raw([]byte("Content-Length: " + strconv.Itoa(len(text)) + "\r\n\r\n" + text))
	case "netstring":
		return p.raw([]byte(strconv.Itoa(len(text)) + ":" + text + ","))
	case "varint":
		return p.raw(append(binary.AppendUvarint(nil, uint64(len(text))), text...))
	case "ws", "wsclient":
		return p.send(1, []byte(text))
	}
	return p.raw([]byte(text + "\n"))
}

// send writes a message in one frame, masked if the peer is a client.
func (p *scriptedPeer) send(kind byte, b []byte) error {
	head := []byte{0x80 | kind, 0}
	switch n := len(b); {
	case n < 126:
		head[1] = byte(n)
	case n < 1<<16:
		head[1] = 126
		head = binary.BigEndian.AppendUint16(head, uint16(n))
	default:
		head[1] = 127
		head = binary.BigEndian.AppendUint64(head, uint64(n))
	}
	if p.mode == "wsclient" {
		head[1] |= 0x80
		head = append(head, 0, 0, 0, 0) // the masking key
	}
	return p.raw(append(head, b...))
}

// frame reads a message of one or more frames.
func (p *scriptedPeer) frame() (kind byte, msg []byte, err error) {
	for fin := false; !fin; {
		var head [2]byte
		if _, err = io.ReadFull(p.in, head[:]); err != nil {
			return
		}
		fin = head[0]&0x80 != 0
		if head[0]&15 != 0 {
			kind = head[0] & 15
		}
		size := uint64(head[1] & 127)
		var long [8]byte
		switch size {
		case 126:
			_, err = io.ReadFull(p.in, long[:2])
			size = uint64(binary.BigEndian.Uint16(long[:2]))
		case 127:
			_, err = io.ReadFull(p.in, long[:])
			size = binary.BigEndian.Uint64(long[:])
		}
		var mask [4]byte
		if masked := head[1]&0x80 != 0; err == nil && masked {
			if p.mode == "wsclient" {
				return kind, msg, errors.New("a server's frame is masked")
			}
			_, err = io.ReadFull(p.in, mask[:])
		} else if p.mode == "ws" && !masked {
			return kind, msg, errors.New("a client's frame is not masked")
		}
		part := make([]byte, size)
		if err == nil {
			_, err = io.ReadFull(p.in, part)
		}
		if err != nil {
			return
		}
		for i := range part {
			part[i] ^= mask[i%4]
		}
		msg = append(msg, part...)
	}
	return kind, msg, nil
}
