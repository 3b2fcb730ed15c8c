package peer

import (
	"bytes"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Exchanges finds the local request for a response on a listener where each exchange with the peer, such as a POST, is
// a connection of its own. The event stream in one exchange carries a request, and the response arrives in another
// POST. All connections of a listener share one Exchanges.
//
// The zero value is usable. The ids of the requests cannot be guessed. Only the peer that received a request can respond to it.
type Exchanges struct {
	owners sync.Map // the Peer that sent each request, by the request's id
}

// newID returns a new id and assigns it to p.
func (x *Exchanges) newID(p *Peer) wire.ID {
	id := wire.ID(`"` + wire.RandomHex(16) + `"`)
	x.owners.Store(string(id), p)
	return id
}

// take removes the request with that id and returns the Peer that sent it, or nil.
func (x *Exchanges) take(id wire.ID) *Peer {
	owner, _ := x.owners.LoadAndDelete(string(id.Key()))
	p, _ := owner.(*Peer)
	return p
}

// forget removes all requests of p.
func (x *Exchanges) forget(p *Peer) {
	for id, owner := range x.owners.Range {
		if owner == p {
			x.owners.Delete(id)
		}
	}
}

// asksInExchange reports whether the connection is a single exchange that carries local requests but not the responses
// to them.
func (p *Peer) asksInExchange() bool {
	return p.singleExchange && p.o.Exchanges != nil && !p.about.SingleResponse
}

// ownExchangeIDLocked gives a local request an id from Exchanges, if its id is in the member "id". The caller holds the
// lock.
func (p *Peer) ownExchangeIDLocked(msg wire.Message) wire.Message {
	if !p.asksInExchange() || len(msg.ID) == 0 || !bytes.Equal(scan.Get(msg.Raw, "id"), msg.ID) {
		return msg
	}
	msg.ID = p.o.Exchanges.newID(p)
	msg.Raw = scan.Splice(msg.Raw, "id", msg.ID)
	return msg
}

// passToAskerLocked passes a response to the Peer whose exchange carried the request, and reports whether it found one.
// The caller holds the lock.
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
