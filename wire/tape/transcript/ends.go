package transcript

import (
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
)

// end records which streams the client has ended. It marks messages of the server as optional if they follow the end of
// their stream, or the end of the client's side.
func (k *loading) end(e *Entry, method string, msg []byte) {
	rules := k.of.Rules
	if k.endNamed(e, method, msg) {
		k.optional[int32(k.Len())] = true
		return
	}
	switch {
	case e.Dir == wire.Recv && k.Close != nil && k.Closer == wire.Send:
		k.optional[int32(k.Len())] = true
	case len(rules.Shape().Streams) == 0 || msg == nil:
	case e.Dir == wire.Send && e.Kind == wire.Request:
		if stream := rules.EndsStream(method, msg, &match.Values{IsStream: k.known}); stream != nil {
			k.ended[rules.HashBytes(stream)] = true
		}
	case len(k.ended) == 0 || e.Dir == wire.Send:
	case e.Kind == wire.Response:
		delete(k.ended, rules.HashBytes(scan.Get(msg, "result"))) // a stream with the same name has been opened again
	case e.Kind == wire.Notification && k.ended[rules.HashBytes(rules.StreamOf(msg))]:
		k.optional[int32(k.Len())] = true
	}
}

// endNamed records the end of a stream that has a name but no id. It reports whether the next entry is an item of such a stream
// after its end.
func (k *loading) endNamed(e *Entry, method string, msg []byte) (late bool) {
	rules, params := k.of.Rules, scan.Get(msg, "params")
	each := func(see func(hash uint64)) {
		for _, part := range scan.Parts(params) {
			see(rules.HashBytes(part))
		}
	}
	switch {
	case len(rules.Shape().EndsNamed) == 0:
	case e.Dir == wire.Send && slices.Contains(rules.Shape().EndsNamed, method):
		each(func(hash uint64) { k.endedNamed[hash] = true })
	case len(k.endedNamed) == 0:
	case e.Dir == wire.Send && e.Kind == wire.Request: // it may open the stream again
		each(func(hash uint64) { delete(k.endedNamed, hash) })
	case e.Dir == wire.Recv && e.Kind == wire.Notification:
		late = k.endedNamed[rules.HashBytes(scan.AppendQuoted(nil, method))]
		each(func(hash uint64) { late = late || k.endedNamed[hash] })
	}
	return late
}
