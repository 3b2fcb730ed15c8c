//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A client sends two requests to a server, the second after the first response. Over event streams, the first request opens a stream.

const (
	adding    = `{"jsonrpc":"2.0","id":%d,"method":"add","params":[1,2]}`
	streaming = `{"jsonrpc":"2.0","id":1,"method":"ticks"}`
)

// asksTwice sends two requests and gets their responses from next. wrap turns a request into a unit, and endless makes parts of a
// request that does not end.
func (p *peer) asksTwice(l *link, wrap func(string) []byte, endless func(int) []byte, next func() (string, error)) error {
	in := read(l, next)
	for i := range 2 {
		text, at := fmt.Sprintf(adding, i+1), middle
		if i == 1 {
			at = last
		}
		if err := p.send(l, unit{bytes: wrap(text), phase: at, wrap: wrap, endless: endless}); err != nil {
			return err
		}
		for {
			select {
			case answer, ok := <-in:
				if !ok {
					return errors.New("the server has ended the connection")
				}
				if !strings.Contains(answer, fmt.Sprintf(`"id":%d,`, i+1)) {
					continue // a response to one of the fault's requests
				}
				if !strings.Contains(answer, `"result":3`) {
					return fmt.Errorf("the answer was %q", answer)
				}
			case <-p.done:
				return errOver
			case <-time.After(answerPatience):
				return errors.New("no answer came")
			}
			break
		}
	}
	return p.send(l, unit{phase: after})
}

const answerPatience = 4 * time.Second

func asksLines(p *peer, l *link) error {
	wrap := func(text string) []byte { return []byte(text + "\n") }
	return p.asksTwice(l, wrap, func(i int) []byte {
		if i == 0 {
			return []byte(`{"jsonrpc":"2.0","id":1,"method":"`)
		}
		return filler
	}, func() (string, error) { return l.in.ReadString('\n') })
}

// masked returns a frame from a client.
func masked(first byte, payload []byte) []byte {
	b := frame(first, payload)
	at := len(b) - len(payload)
	b[1] |= 0x80
	mask := []byte{1, 2, 3, 4}
	out := append(bytes.Clone(b[:at]), mask...)
	for i, c := range payload {
		out = append(out, c^mask[i%4])
	}
	return out
}

func asksWS(p *peer, l *link) error {
	key := base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(make([]byte, 8), p.rng.Uint64()))
	up := "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + "\r\n\r\n"
	wrap := func(text string) []byte { return masked(fin|opText, []byte(text)) }
	if err := p.send(l, unit{bytes: []byte(up), phase: head, wrap: wrap, endless: func(i int) []byte {
		if i == 0 {
			return []byte("GET / HTTP/1.1\r\n")
		}
		return append(append([]byte("X-Filler: x"), filler...), "\r\n"...)
	}}); err != nil {
		return err
	}
	r, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusSwitchingProtocols {
		return errors.New(r.Status)
	}
	return p.asksTwice(l, wrap, func(i int) []byte {
		if i == 0 {
			return masked(opText, []byte(`{"jsonrpc":"2.0","id":1,"method":"`))
		}
		return masked(opContinue, filler)
	}, func() (string, error) {
		for {
			op, payload, err := readFrame(l.in)
			switch {
			case err != nil:
				return "", err
			case op == opText:
				return string(payload), nil
			case op == opClose && !p.fault.staysOpen:
				l.write(masked(fin|opClose, payload))
				return "", errOver
			}
		}
	})
}

const postHead = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"

func post(text string) []byte {
	return fmt.Appendf(nil, "%sContent-Length: %d\r\n\r\n%s", postHead, len(text), text)
}

func endlessPost(i int) []byte {
	if i == 0 {
		return []byte(postHead + "Transfer-Encoding: chunked\r\n\r\n")
	}
	return chunk(string(filler))
}

func asksHTTP(p *peer, l *link) error {
	in := bufio.NewReader(l.in)
	if p.over.events { // a stream must be open when the fault occurs
		if err := p.send(l, unit{bytes: post(streaming), phase: head, wrap: post, endless: endlessPost}); err != nil {
			return err
		}
		for range 3 {
			if _, err := in.ReadString('\n'); err != nil {
				return err
			}
		}
		return p.send(l, unit{bytes: post(streaming), phase: last, wrap: post, endless: endlessPost})
	}
	return p.asksTwice(l, post, endlessPost, func() (string, error) {
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return "", err
		}
		var b bytes.Buffer
		_, err = b.ReadFrom(r.Body)
		return b.String(), err
	})
}
