//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// Where a fault strikes, beside the number of a unit.
const (
	atFirst  = -1 - iota // the first message that is not before what the connection stands on
	atLast               // what the command waits for
	atEach               // every unit
	atAfter              // what comes after the last
	atDial               // before TLS
	atNobody             // nobody is there
)

// A kind is what a fault may come to; expect says which statuses that are.
type kind int

const (
	harmless kind = iota // all goes well
	lost                 // the connection ends
	silent               // nothing more comes
	broken               // what comes breaks the protocol, or is too large
	noise                // likewise, of a child of which a few such lines are taken for noise
	refused              // nobody is there, or TLS fails
	turned               // HTTP says no; the fault's code is which
	either               // broken or lost, as the far end reads it
)

// A fault is what is done in place of something that the peer would say.
type fault struct {
	name   string
	at     int
	kind   kind
	code   int  // of HTTP
	clings bool // the peer closes nothing by itself
	loose  bool // stdout may have more or less than without it
	strike func(p *peer, l *link, u unit) error
	dial   func(p *peer, raw net.Conn) // with atDial
	only   func(t *transport) string   // why it cannot be there; "": it can
}

// strikes says whether a fault is for unit number k.
func (f *fault) strikes(k int, at phase) bool {
	switch f.at {
	case atFirst:
		return at != head
	case atLast:
		return at == last
	case atEach:
		return true
	case atAfter:
		return at == after
	}
	return f.at == k
}

// most is how many units a conversation has at most.
const most = 9

// faults are all of them.
var faults = sync.OnceValue(func() []*fault {
	all := []*fault{{name: "none", at: atNobody}}
	for k := range most {
		all = append(all,
			&fault{name: fmt.Sprint("cut-", k), at: k, kind: lost, strike: cutting},
			&fault{name: fmt.Sprint("cutin-", k), at: k, kind: lost, strike: cuttingInside})
	}
	for _, at := range []struct {
		name string
		at   int
	}{{"first", atFirst}, {"last", atLast}, {"head", 0}} {
		isHead := at.name == "head"
		add := func(name string, f fault) {
			f.name, f.at = name+"-"+at.name, at.at
			if isHead {
				f.only = both(f.only, wsOnly("only an upgrade comes before the first message"))
			}
			all = append(all, &f)
		}
		add("rst", fault{kind: lost, strike: resetting, only: tcpOnly})
		add("half-send", fault{kind: lost, strike: endingOurs})
		add("half-recv", fault{kind: silent, strike: endingTheirs})
		add("never", fault{kind: silent, strike: holding})
		add("gone", fault{kind: silent, strike: deafening})
		add("garbage", fault{kind: noise, strike: garbling})
		add("endless", fault{kind: broken, strike: endless})
		add("dup", fault{kind: harmless, loose: true, strike: twice})
		if isHead {
			continue
		}
		add("stopped", fault{kind: silent, strike: stopping, only: childOnly})
		add("text", fault{kind: noise, strike: saying(`{"jsonrpc":"2.0",not JSON`)})
		add("oversize", fault{kind: broken, strike: oversize})
	}
	all = append(all,
		&fault{name: "delay", at: atLast, strike: delaying},
		&fault{name: "bytes", at: atEach, strike: byteByByte},
		&fault{name: "trickle", at: atLast, kind: silent, strike: trickling},
		&fault{name: "swap", at: atFirst, loose: true, strike: swapping},
		&fault{name: "noclose", at: atAfter, clings: true, strike: honest},
		&fault{name: "flood", at: atLast, loose: true, strike: flooding},
		&fault{name: "flood-endless", at: atLast, kind: silent, strike: floodingOn},
		&fault{name: "flood-deaf", at: atLast, kind: silent, strike: floodingDeaf},
		&fault{name: "refused", at: atNobody, kind: refused},
		&fault{name: "gzip", at: 0, kind: broken, strike: bomb, only: httpOnly},
		&fault{name: "huge", at: atLast, kind: broken, strike: announcing, only: wsOnly("only WebSocket has lengths before a message")},
	)
	for _, code := range []int{1000, 1011, 1002} {
		all = append(all, &fault{name: fmt.Sprint("close-", code), at: atLast, kind: lost, strike: closing(code), only: wsOnly("only WebSocket has close codes")})
	}
	for _, code := range []int{1005, 999} {
		all = append(all, &fault{name: fmt.Sprint("close-", code), at: atLast, kind: either, strike: closing(code), only: wsOnly("only WebSocket has close codes")})
	}
	for _, code := range []int{200, 301, 302, 307, 308, 400, 401, 403, 404, 407, 429, 500, 502, 503} {
		only := httpish
		if code == 200 {
			only = wsOnly("200 is what a POST hopes for")
		}
		at := 0
		if code == 308 {
			at = atEach // each way leads to another
		}
		all = append(all, &fault{name: fmt.Sprint("http-", code), at: at, kind: turned, code: code, strike: turning(code), only: only})
	}
	return append(all, tlsFaults()...)
})

func honest(_ *peer, l *link, u unit) error { return l.write(u.bytes) }

func cutting(_ *peer, l *link, _ unit) error { return l.cut() }

func cuttingInside(p *peer, l *link, u unit) error {
	l.write(u.bytes[:1+p.rng.IntN(len(u.bytes)-6)]) // without the end of what is said in it
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

func garbling(p *peer, l *link, _ unit) error {
	b := make([]byte, 64)
	for i := range b {
		b[i] = byte(p.rng.Uint32())
	}
	b[0] |= 0x70 // no frame that WebSocket knows, no HTTP, and no blank line
	l.write(append(b, '\n'))
	return l.hold(p)
}

// saying says something else in place of the message.
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

// trickling is a message that never ends, so slowly that it is never too large.
func trickling(p *peer, l *link, u unit) error {
	l.write(u.endless(0))
	for i := 0; ; i++ {
		p.pause(5 * time.Millisecond)
		b := u.endless(1)[:]
		if bytes.Contains(b, []byte("\r\n")) {
			b = chunk(" ")
		} else if p.over.ws {
			b = frame(opContinue, []byte(" "))
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
	l.write(u.bytes) // it may have all that it wants by now
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

// swapping keeps a unit until the next has been written, or for a moment.
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

// flooding asks much before it answers.
func flooding(p *peer, l *link, u unit) error {
	if err := ask(p, l, u, 2000); err != nil {
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
		if err := l.write(u.wrap(fmt.Sprintf(p.says.question, p.asks))); err != nil {
			return err
		}
	}
	return nil
}

func announcing(p *peer, l *link, _ unit) error {
	l.write([]byte{fin | opText, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	return l.hold(p)
}

func closing(code int) func(*peer, *link, unit) error {
	return func(p *peer, l *link, _ unit) error {
		l.write(frame(fin|opClose, append([]byte{byte(code >> 8), byte(code)}, "going"...)))
		return l.hold(p)
	}
}

// turning is an HTTP response that is no answer.
func turning(code int) func(*peer, *link, unit) error {
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
		return l.write(fmt.Appendf(nil, "HTTP/1.1 %d Whatever\r\n%sContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno", code, extra))
	}
}

// zeros is 16 MiB of them, compressed.
var zeros = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(make([]byte, 16<<20))
	w.Close()
	return b.Bytes()
})

// bomb is a body of 4 GiB of zeros, in 4 MB.
func bomb(p *peer, l *link, _ unit) error {
	l.write([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"))
	for range 256 {
		if err := l.write(chunk(string(zeros()))); err != nil {
			return err
		}
	}
	l.write([]byte("0\r\n\r\n"))
	return l.hold(p)
}
