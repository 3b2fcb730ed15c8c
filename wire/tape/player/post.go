package player

import (
	"bytes"
	"context"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
)

// maxPosts bounds the simultaneous POSTs of responses and notifications. Beyond it, nothing of the server is read.
const maxPosts = 64

// post makes one HTTP exchange of msg. If msg wants no answer the exchange is
// awaited, as the next message could overtake it.
func (e *engine) post(c *conn, msg []byte) {
	shape := e.t.Rules.Shape()
	waits := scan.Get(msg, shape.Method) == nil || scan.Get(msg, shape.ID) == nil
	if shape.Own != nil {
		waits = shape.Own.Read(msg).Kind != wire.Request
	}
	if waits {
		e.posting++
	}
	go func() {
		defer wire.Guard()
		err := c.exchanger.Exchange(context.Background(), msg, func(reply []byte) {
			a := arrival{conn: c, msg: bytes.Clone(reply)}
			if !waits && string(match.IDOf(shape, reply)) == "null" { // an error: the server did not read the id
				a.to = match.IDOf(shape, msg)
			}
			e.hand(a)
		})
		if waits {
			select {
			case e.posted <- err:
			case <-e.done:
			}
		} else if f := wire.AsFault(err); f != nil && f.HTTP != nil && f.HTTP.Status >= 400 {
			e.hand(arrival{conn: c, to: match.IDOf(shape, msg), msg: []byte(f.HTTP.Body)})
		} else if err != nil {
			e.hand(arrival{conn: c, err: err})
		}
	}()
}

// postEnded handles the end of a POST that was awaited.
func (e *engine) postEnded(err error) (over bool) {
	e.posting--
	e.ignored = min(e.ignored, e.posting)
	e.failure = err
	return err != nil
}
