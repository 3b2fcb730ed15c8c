package peer

import (
	"bytes"
	"maps"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Exchanges matches responses to local requests when each exchange with the peer is its own connection, like POSTs to a
// listener: a request is sent in the event stream of one exchange, and its response arrives in another POST. All
// connections of a listener share one Exchanges.
//
// The requests have ids that cannot be guessed, so only the peer that received a request can answer it.
type Exchanges struct {
	mu     sync.Mutex
	owners map[string]*Peer // by the ids of their requests
}

// NewExchanges returns an Exchanges without requests.
func NewExchanges() *Exchanges { return &Exchanges{owners: map[string]*Peer{}} }

// newID returns a new id for a request of p.
func (x *Exchanges) newID(p *Peer) wire.ID {
	id := wire.ID(`"` + wire.RandomHex(16) + `"`)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.owners[string(id)] = p
	return id
}

// take removes the request with that id and returns its Peer, or nil if there is none.
func (x *Exchanges) take(id wire.ID) *Peer {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.owners[string(id)]
	delete(x.owners, string(id))
	return p
}

// forget removes the requests of p that were not answered.
func (x *Exchanges) forget(p *Peer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.owners, func(_ string, owner *Peer) bool { return owner == p })
}

// asksInExchange reports whether the connection is a single exchange, in which local requests are sent but whose
// answers arrive in another exchange.
func (p *Peer) asksInExchange() bool {
	return p.singleExchange && p.o.Exchanges != nil && !p.about.SingleResponse
}

// ownExchangeIDLocked gives a local request an id with which Exchanges finds its response. The request must have its id in
// the member "id".
func (p *Peer) ownExchangeIDLocked(msg wire.Message) wire.Message {
	if !p.asksInExchange() || len(msg.ID) == 0 || !bytes.Equal(scan.Get(msg.Raw, "id"), msg.ID) {
		return msg
	}
	msg.ID = p.o.Exchanges.newID(p)
	msg.Raw = scan.Splice(msg.Raw, "id", msg.ID)
	return msg
}

// passToAskerLocked passes an answer to the Peer whose exchange carried the request, and reports whether there is such
// a Peer.
func (p *Peer) passToAskerLocked(m *wire.Message) bool {
	if !p.singleExchange || p.o.Exchanges == nil || m.Kind != wire.Response {
		return false
	}
	owner := p.o.Exchanges.take(m.ID)
	if owner == nil {
		return false
	}
	raw := bytes.Clone(m.Raw)
	p.wg.Go(func() {
		defer wire.Guard()
		_ = owner.receive(raw, nil)
	})
	return true
}
