//go:build linux

package main

import (
	"fmt"
	"net"
	"sync"
)

// A fault that does not occur at a numbered unit occurs at one of these places.
const (
	atFirst = -1 - iota // the first message after the connection is established
	atLast              // the message that the command waits for
	atEach
	atAfter  // after the last message
	atDial   // before TLS
	atNobody // there is no peer
)

// A kind is a class of outcomes, which expect.go maps to exit statuses.
type kind int

const (
	harmless kind = iota // no effect
	lost                 // the connection ends
	silent               // no more messages arrive
	broken               // the peer breaks the protocol, or its message is too large
	noise                // like broken, but from a child, invalid first lines count as noise
	refused              // the peer is not listening, or TLS fails
	turned               // an HTTP status, the fault's code, rejects the request
	either               // broken or lost, depending on what the peer has read
	stray                // the message answers no request
	told                 // a signal ends the command
)

// A fault replaces an action of the peer.
type fault struct {
	name   string
	at     int
	kind   kind
	code   int
	clings bool // the peer does not close its connections
	loose  bool // stdout can differ from the output without the fault
	strike func(p *peer, l *link, u unit) error
	dial   func(p *peer, raw net.Conn) // performs a fault at atDial
	came   func(p *peer, raw net.Conn) // like dial, for a client; nil if a client cannot have the fault
	only   func(t *transport) string   // returns why the fault is impossible, or ""
}

// strikes reports whether a fault applies to unit number k.
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

// strays are messages that answer no request, whatever their id.
var strays = map[string]string{
	"other":   `{"jsonrpc":"2.0","id":77,"result":"of another"}`,
	"text-id": `{"jsonrpc":"2.0","id":"1","result":"of another"}`,
	"null-id": `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
	"bare":    `{"jsonrpc":"2.0","id":1}`,
	"item":    `{"jsonrpc":"2.0","method":"n","params":{"subscription":"t","result":1}}`,
	"ask":     `{"jsonrpc":"2.0","id":9,"method":"ask"}`,
	"event":   `{"type":"event"}`,
	"none":    `[]`,
	"array":   `[{"jsonrpc":"2.0"}]`,
	"blank":   ``,
}

// most is the maximum number of units in a conversation.
const most = 10

// faults returns all faults.
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
		add("text", fault{kind: noise, strike: saying(`{"jsonrpc":"2.0",not JSON, "password":"` + secretWord + `"`)})
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
	for name, text := range strays {
		all = append(all, &fault{name: "stray-" + name, at: atLast, kind: stray, strike: saying(text)})
	}
	all = append(all,
		&fault{name: "term", at: atLast, kind: told, strike: terminating(holding), only: childOnly},
		&fault{name: "term-noclose", at: atLast, kind: told, clings: true, strike: terminating(holding), only: childOnly},
		&fault{name: "term-stopped", at: atLast, kind: told, strike: terminating(stopping), only: childOnly},
		&fault{name: "term-flood", at: atLast, kind: told, strike: terminating(floodingOn), only: childOnly},
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
			at = atEach // each place has a different outcome
		}
		all = append(all, &fault{name: fmt.Sprint("http-", code), at: at, kind: turned, code: code, strike: turning(code), only: only})
	}
	return append(all, tlsFaults()...)
})
