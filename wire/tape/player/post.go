package player

import (
	"bytes"
	"context"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
)

// maxPosts bounds the simultaneous POSTs of responses and notifications. At the bound, nothing is read from the server.
const maxPosts = 64

// post sends msg in one HTTP exchange. If msg expects no response, post waits for the exchange, as the next message could overtake it.
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
			if !waits && string(match.IDOf(shape, reply)) == "null" { // an error: the server could not read the id
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

// postEnded handles the end of a POST that was waited for.
func (e *engine) postEnded(err error) (over bool) {
	e.posting--
	e.ignored = min(e.ignored, e.posting)
	e.failure = err
	return err != nil
}
