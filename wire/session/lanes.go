package session

import (
	"slices"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/recorder"
)

// lanes record POSTs that share connections on the tape. A response contains only the id of its request. Two pending requests on one
// connection must therefore not have the same id. If a second request has the id of a pending one, it is recorded on another
// connection, which is used again later.
type lanes struct {
	shape dialect.Shape
	open  func() *recorder.Conn // starts to record a connection

	mu  sync.Mutex
	all []lane
}

// A lane is one of these connections. It has the ids of the requests that are pending there.
type lane struct {
	*recorder.Conn
	pending map[string]bool
}

// maxLanes is the maximum number of connections. Requests for which none is free are recorded on the last one.
const maxLanes = 1000

func newLanes(shape dialect.Shape, open func() *recorder.Conn) *lanes {
	return &lanes{shape: shape, open: open, all: []lane{{open(), map[string]bool{}}}}
}

// first returns the connection on which most POSTs are recorded.
func (l *lanes) first() *recorder.Conn { return l.all[0].Conn }

// post begins to record the POST that conn carries. answers is the direction of the response's messages.
func (l *lanes) post(conn wire.Conn, answers wire.Direction) *postRecording {
	p := &postRecording{lanes: l, answers: answers}
	if by, ok := conn.(exchangeReporter); ok {
		by.OnExchange(p.exchange)
	}
	return p
}

// take returns the connection for a POST whose first message is msg. The caller calls free when the POST has ended.
func (l *lanes) take(msg []byte) (to *recorder.Conn, free func()) {
	var ids []string
	parts, _ := match.Elements(&l.shape, msg)
	for _, part := range parts {
		if p := match.Parse(&l.shape, part, true); p.Kind == wire.Request {
			ids = append(ids, p.ID.Key().String())
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for n < len(l.all)-1 && l.all[n].busy(ids) {
		n++
	}
	if l.all[n].busy(ids) && len(l.all) < maxLanes {
		n++
		l.all = append(l.all, lane{l.open(), map[string]bool{}})
	}
	one := l.all[n]
	for _, id := range ids {
		one.pending[id] = true
	}
	return one.Conn, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, id := range ids {
			delete(one.pending, id)
		}
	}
}

// busy reports whether a request with one of these ids is pending.
func (l lane) busy(ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return l.pending[id] })
}
