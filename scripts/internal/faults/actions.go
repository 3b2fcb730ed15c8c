//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Each of these functions performs a fault in place of a unit.

func unchanged(_ *peer, l *link, u unit) error { return l.write(u.bytes) }

func cutting(_ *peer, l *link, _ unit) error { return l.cut() }

func cuttingInside(p *peer, l *link, u unit) error {
	if len(u.bytes) < 8 {
		return l.cut()
	}
	l.write(u.bytes[:1+p.rng.IntN(len(u.bytes)-6)]) // at least six bytes are missing
	return l.cut()
}

func resetting(_ *peer, l *link, _ unit) error { return l.reset() }

func endingOurs(p *peer, l *link, _ unit) error {
	l.shut()
	return l.hold(p)
}

func endingTheirs(p *peer, l *link, _ unit) error {
	l.shutIn()
	return l.deaf(p)
}

func holding(p *peer, l *link, _ unit) error { return l.hold(p) }

func deafening(p *peer, l *link, _ unit) error { return l.deaf(p) }

func stopping(p *peer, l *link, _ unit) error {
	if err := stopSelf(); err != nil {
		return err
	}
	return l.hold(p)
}

// terminating ends the command with a signal, and then performs another action.
func terminating(then func(*peer, *link, unit) error) func(*peer, *link, unit) error {
	return func(p *peer, l *link, u unit) error {
		if err := syscall.Kill(os.Getppid(), syscall.SIGTERM); err != nil {
			return err
		}
		return then(p, l, u)
	}
}

func garbling(p *peer, l *link, _ unit) error {
	b := make([]byte, 64)
	for i := range b {
		b[i] = byte(p.rng.Uint32())
	}
	b[0] |= 0x70 // not a WebSocket frame, not HTTP and not a blank line
	l.write(append(b, '\n'))
	return l.hold(p)
}

// saying sends another text in place of the message.
func saying(text string) func(*peer, *link, unit) error {
	return func(p *peer, l *link, u unit) error {
		l.write(u.wrap(text))
		return l.hold(p)
	}
}

func oversize(p *peer, l *link, u unit) error {
	l.write(u.wrap(`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", 1<<20) + `"}`))
	return l.hold(p)
}

func endless(p *peer, l *link, u unit) error {
	for i := 0; ; i++ {
		select {
		case <-p.done:
			return errOver
		default:
		}
		if err := l.write(u.endless(i)); err != nil {
			return err
		}
	}
}

// trickling sends a message that does not end, so slowly that it never becomes too large.
func trickling(p *peer, l *link, u unit) error {
	l.write(u.endless(0))
	for i := 0; ; i++ {
		p.pause(5 * time.Millisecond)
		b := u.endless(1)[:]
		if bytes.Contains(b, []byte("\r\n")) {
			b = chunk(" ")
		} else if p.over.ws {
			b = p.frame(opContinue, []byte(" "))
		} else {
			b = b[:1]
		}
		if err := l.write(b); err != nil {
			return err
		}
		select {
		case <-p.done:
			return errOver
		default:
		}
	}
}

func twice(_ *peer, l *link, u unit) error {
	if err := l.write(u.bytes); err != nil {
		return err
	}
	l.write(u.bytes) // the command may have closed already
	return nil
}

func delaying(p *peer, l *link, u unit) error {
	p.pause(150 * time.Millisecond)
	return l.write(u.bytes)
}

func byteByByte(_ *peer, l *link, u unit) error {
	for i := range u.bytes {
		if err := l.write(u.bytes[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

// swapping delays a unit until after the next one, but only briefly.
func swapping(p *peer, l *link, u unit) error {
	p.mu.Lock()
	p.held = u.bytes
	p.mu.Unlock()
	time.AfterFunc(100*time.Millisecond, func() {
		p.mu.Lock()
		held := p.held
		p.held = nil
		p.mu.Unlock()
		if held != nil {
			l.write(held)
		}
	})
	return nil
}

// flooding sends many requests before the response.
func flooding(p *peer, l *link, u unit) error {
	many := 2000
	if p.over.http {
		many = 50 // each response is a POST
	}
	if err := ask(p, l, u, many); err != nil {
		return err
	}
	return l.write(u.bytes)
}

func floodingOn(p *peer, l *link, u unit) error {
	for {
		if err := ask(p, l, u, 100); err != nil {
			return err
		}
	}
}

func floodingDeaf(p *peer, l *link, u unit) error {
	l.stop.Store(true)
	return floodingOn(p, l, u)
}

func ask(p *peer, l *link, u unit, n int) error {
	for range n {
		select {
		case <-p.done:
			return errOver
		default:
		}
		p.asks++
		if err := l.write(u.wrap(p.question(p.asks))); err != nil {
			return err
		}
	}
	return nil
}

func announcing(p *peer, l *link, _ unit) error {
	l.write([]byte{fin | opText, p.frame(0, nil)[1] | 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	return l.hold(p)
}

func closing(code int) func(*peer, *link, unit) error {
	return func(p *peer, l *link, _ unit) error {
		l.write(p.frame(fin|opClose, append([]byte{byte(code >> 8), byte(code)}, "going"...)))
		return l.hold(p)
	}
}

// rejecting sends an HTTP response instead of an answer to the request.
func rejecting(code int) func(*peer, *link, unit) error {
	return func(_ *peer, l *link, _ unit) error {
		extra := ""
		switch {
		case code == 308:
			extra = "Location: /again\r\n"
		case code/100 == 3:
			extra = "Location: http://127.0.0.1:1/\r\n"
		case code == 401:
			extra = "WWW-Authenticate: Bearer\r\n"
		}
		if err := l.write(fmt.Appendf(nil, "HTTP/1.1 %d Whatever\r\n%sContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno", code, extra)); err != nil {
			return err
		}
		return errRejected
	}
}

// zeros has 16 MiB of zeros, compressed.
var zeros = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(make([]byte, 16<<20))
	w.Close()
	return b.Bytes()
})

// bomb sends a body of 4 GiB of zeros, compressed to 4 MB.
func bomb(p *peer, l *link, _ unit) error {
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	if p.masks {
		head = postHead
	}
	l.write([]byte(head + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"))
	for range 256 {
		if err := l.write(chunk(string(zeros()))); err != nil {
			return err
		}
	}
	l.write([]byte("0\r\n\r\n"))
	return l.hold(p)
}
