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
	harmless   kind = iota // no effect
	lost                   // the connection ends
	silent                 // no more messages arrive
	broken                 // the peer breaks the protocol, or its message is too large
	noise                  // like broken, but from a child, invalid first lines count as noise
	refused                // the peer is not listening, or TLS fails
	rejected               // an HTTP status, the fault's code, rejects the request
	either                 // broken or lost, depending on what the peer has read
	unexpected             // the message answers no request
	terminated             // a signal ends the command
)

// A fault replaces an action of the peer.
type fault struct {
	name       string
	at         int
	kind       kind
	code       int
	staysOpen  bool // the peer does not close its connections
	anyOutput  bool // stdout can differ from the output without the fault
	perform    func(p *peer, l *link, u unit) error
	dial       func(p *peer, raw net.Conn) // performs a fault at atDial
	clientDial func(p *peer, raw net.Conn) // like dial, for a client; nil if a client cannot have the fault
	only       func(t *transport) string   // returns why the fault is impossible, or ""
}

// appliesTo reports whether a fault applies to unit number k.
func (f *fault) appliesTo(k int, at phase) bool {
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

// unexpectedMessages are messages that answer no request, whatever their id.
var unexpectedMessages = map[string]string{
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
			&fault{name: fmt.Sprint("cut-", k), at: k, kind: lost, perform: cutting},
			&fault{name: fmt.Sprint("cutin-", k), at: k, kind: lost, perform: cuttingInside})
	}
	for _, at := range []struct {
		name string
		at   int
	}{{"first", atFirst}, {"last", atLast}, {"head", 0}} {
		isHead := at.name == "head"
		add := func(name string, f fault) {
			f.name, f.at = name+"-"+at.name, at.at
			if isHead {
				f.only = both(f.only, wsOnly("only WebSocket has an upgrade before the first message"))
			}
			all = append(all, &f)
		}
		add("rst", fault{kind: lost, perform: resetting, only: tcpOnly})
		add("half-send", fault{kind: lost, perform: endingOurs})
		add("half-recv", fault{kind: silent, perform: endingTheirs})
		add("never", fault{kind: silent, perform: holding})
		add("gone", fault{kind: silent, perform: deafening})
		add("garbage", fault{kind: noise, perform: garbling})
		add("endless", fault{kind: broken, perform: endless})
		add("dup", fault{kind: harmless, anyOutput: true, perform: twice})
		if isHead {
			continue
		}
		add("stopped", fault{kind: silent, perform: stopping, only: childOnly})
		add("text", fault{kind: noise, perform: saying(`{"jsonrpc":"2.0",not JSON, "password":"` + secretWord + `"`)})
		add("oversize", fault{kind: broken, perform: oversize})
	}
	all = append(all,
		&fault{name: "delay", at: atLast, perform: delaying},
		&fault{name: "bytes", at: atEach, perform: byteByByte},
		&fault{name: "trickle", at: atLast, kind: silent, perform: trickling},
		&fault{name: "swap", at: atFirst, anyOutput: true, perform: swapping},
		&fault{name: "noclose", at: atAfter, staysOpen: true, perform: unchanged},
		&fault{name: "flood", at: atLast, anyOutput: true, perform: flooding},
		&fault{name: "flood-endless", at: atLast, kind: silent, perform: floodingOn},
		&fault{name: "flood-deaf", at: atLast, kind: silent, perform: floodingDeaf},
		&fault{name: "refused", at: atNobody, kind: refused},
		&fault{name: "gzip", at: 0, kind: broken, perform: bomb, only: httpOnly},
		&fault{name: "huge", at: atLast, kind: broken, perform: announcing, only: wsOnly("only WebSocket has lengths before a message")},
	)
	for name, text := range unexpectedMessages {
		all = append(all, &fault{name: "unexpected-" + name, at: atLast, kind: unexpected, perform: saying(text)})
	}
	all = append(all,
		&fault{name: "term", at: atLast, kind: terminated, perform: terminating(holding), only: childOnly},
		&fault{name: "term-noclose", at: atLast, kind: terminated, staysOpen: true, perform: terminating(holding), only: childOnly},
		&fault{name: "term-stopped", at: atLast, kind: terminated, perform: terminating(stopping), only: childOnly},
		&fault{name: "term-flood", at: atLast, kind: terminated, perform: terminating(floodingOn), only: childOnly},
	)
	for _, code := range []int{1000, 1011, 1002} {
		all = append(all, &fault{name: fmt.Sprint("close-", code), at: atLast, kind: lost, perform: closing(code), only: wsOnly("only WebSocket has close codes")})
	}
	for _, code := range []int{1005, 999} {
		all = append(all, &fault{name: fmt.Sprint("close-", code), at: atLast, kind: either, perform: closing(code), only: wsOnly("only WebSocket has close codes")})
	}
	for _, code := range []int{200, 301, 302, 307, 308, 400, 401, 403, 404, 407, 429, 500, 502, 503} {
		only := httpish
		if code == 200 {
			only = wsOnly("status 200 is not an error for a POST")
		}
		at := 0
		if code == 308 {
			at = atEach // each place has a different outcome
		}
		all = append(all, &fault{name: fmt.Sprint("http-", code), at: at, kind: rejected, code: code, perform: rejecting(code), only: only})
	}
	return append(all, tlsFaults()...)
})
