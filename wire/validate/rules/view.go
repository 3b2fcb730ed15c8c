package rules

import (
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
)

// Kinds of views. Every view has these members:
//
//	kind  one of the constants below
//	n     the line on the tape, or the number of the message in a live conversation
//	t     seconds since the start
//	conn  the connection, 0 if there is only one
//
// The view of a message also has these:
//
//	from      "client" or "server"
//	msg       the message, if it is JSON
//	text      the text of a message that is not JSON
//	size      its size in bytes
//	vague     whether a line of the connection described a message without containing it
//	          (see "match" in rpcx-tape(5)), so that requests may be unknown
//	about     the output of Set.About
//	elem      the index of the message in a batch, or null
//	id        the id in its canonical spelling (see wire.ID), or null
//	method    the method of a request or notification, or of the request that a response
//	          answers, or null
//	busy      (requests) whether another request with the same id waits for its response
//	request   (responses) the request, or null: n, t, elem, method, params (null if it was
//	          answered before or is too large; in dialects whose messages have a type, the
//	          whole request, even later), answers (how often it was answered before)
//	parts     (batches) the views of the messages
//
// The views of other kinds have these:
//
//	open   endpoint, subprotocol, reconnect
//	http   http: an exchange, as on a tape
//	end    closed (whether the tape contains the end), clean, by ("client", "server" or
//	       null; "server" if its child died with requests of the client), code, open: the
//	       unanswered requests (n, from, method, id, age in seconds), kept: all stored
//	       values, by key
const (
	kindRequest      = "request"
	kindNotification = "notification"
	kindResponse     = "response"
	kindBatch        = "batch"  // an array of messages, each of which also has its own view
	kindOther        = "other"  // other JSON
	kindText         = "text"   // not JSON
	kindBinary       = "binary" // bytes that are not UTF-8
	kindNoise        = "noise"  // a child's output that is not a message
	kindOpen         = "open"
	kindHTTP         = "http"
	kindEnd          = "end"
)

var kinds = []string{
	kindRequest, kindNotification, kindResponse, kindBatch, kindOther, kindText, kindBinary, kindNoise, kindOpen, kindHTTP, kindEnd,
}

const (
	client = "client"
	server = "server"
)

// Sender returns the side that sent a message. d is the direction as the client sees it.
func Sender(d wire.Direction) string {
	if d == wire.Send {
		return client
	}
	return server
}

// A view is the form in which programs see a message, together with the data that selects the programs.
type view struct {
	kind   string
	from   string
	method string
	line   *tape.Line
	raw    []byte // the message's text
	prefix string // the pointer to the message in its batch, which precedes other pointers
	sorts  []any  // see Set.About
	val    map[string]any
}

// base returns the members that all views have.
func base(kind string, l *tape.Line) map[string]any {
	return map[string]any{"kind": kind, "n": l.Number, "t": l.Time.Seconds(), "conn": l.Conn}
}

// message returns the view of a message on connection k. It stores requests, because the views of their responses
// contain them.
func (k *connection) message(s *dialect.Shape, l *tape.Line, raw []byte, elem any) *view {
	v := &view{line: l, raw: raw, from: Sender(l.Dir)}
	p := parsed{}
	msg, err := any(nil), error(nil)
	if l.Msg == nil {
		v.kind = kindText
		if !utf8.Valid(raw) {
			v.kind = kindBinary
		}
	} else if msg, err = jq.Decode(raw); err != nil { // no rule can compute with a number of so many digits
		k.vague = true
	} else {
		p = classify(s, raw, l.Dir == wire.Send)
		v.kind, v.method = p.kind, p.method
	}
	v.val = base(v.kind, l)
	v.val["from"], v.val["size"], v.val["elem"], v.val["vague"] = v.from, len(raw), elem, k.vague
	v.val["id"], v.val["method"], v.val["request"] = any(nil), any(nil), any(nil)
	if l.Msg == nil || err != nil {
		v.val["text"] = string(raw)
		return v
	}
	v.val["msg"] = msg
	key := wire.ID(p.id).Key().String()
	if key != "" {
		v.val["id"], _ = jq.Decode(json.RawMessage(key)) // programs compare ids, too
	}
	switch v.kind {
	case kindRequest:
		k.ask(v, key, elem, s.Typed)
	case kindResponse:
		if c := k.answer(v.from, key, s.Typed); c != nil {
			v.val["request"] = c.view()
			if !s.Typed {
				v.method = c.method
			}
		}
	}
	if v.method != "" {
		v.val["method"] = v.method
	}
	return v
}

// A parsed is the content of a message, even if its members have wrong types.
type parsed struct {
	kind   string
	id     string // JSON, or ""
	method string
}

// classify is match.Parse for messages that may be malformed. A message with a method is a request, and a message with
// a result or an error is a response.
func classify(s *dialect.Shape, raw []byte, fromClient bool) parsed {
	if scan.Type(scan.Trim(raw)) != 'o' {
		return parsed{kind: kindOther}
	}
	if s.Typed || s.Own != nil {
		m := match.Parse(s, raw, fromClient)
		names := map[wire.Kind]string{wire.Request: kindRequest, wire.Notification: kindNotification, wire.Response: kindResponse}
		return parsed{kind: cmp.Or(names[m.Kind], kindOther), id: m.ID.String(), method: m.Method}
	}
	method, id := scan.Get(raw, s.Method), scan.Get(raw, s.ID)
	p := parsed{kind: kindOther, id: string(id)}
	p.method, _ = scan.Text(method)
	null := string(id) == "null"
	switch {
	case method != nil && (id == nil || null && scan.Get(raw, "jsonrpc") == nil):
		p.kind = kindNotification
	case method != nil:
		p.kind = kindRequest
	case scan.Get(raw, "result") != nil || scan.Get(raw, "error") != nil:
		p.kind = kindResponse
	}
	return p
}

// opening returns the view of the line about the opening of the connection.
func opening(l *tape.Line) *view {
	v := &view{kind: kindOpen, line: l, val: base(kindOpen, l)}
	v.val["endpoint"], v.val["subprotocol"], v.val["reconnect"] = l.Open.Endpoint, l.Open.Subprotocol, l.Open.Reconnect
	return v
}

// exchange returns the view of an HTTP exchange.
func exchange(l *tape.Line) *view {
	v := &view{kind: kindHTTP, line: l, val: base(kindHTTP, l)}
	if b, err := scan.Marshal(l.HTTP); err == nil {
		v.val["http"], _ = jq.Decode(b)
	}
	return v
}

// end returns the view of the end of k. l is the closing line, or the last line if the tape has no closing line.
func (k *connection) end(l *tape.Line) *view {
	v := &view{kind: kindEnd, line: l, val: base(kindEnd, l)}
	v.val["closed"], v.val["clean"], v.val["by"], v.val["code"] = l.Close != nil, false, any(nil), any(nil)
	if l.Close != nil {
		v.val["clean"], v.val["by"] = l.Close.Clean, Sender(l.Dir)
		if k.pending[client].order.Len() > 0 && died(l.Close.Child) {
			v.val["by"] = server // although the client had stopped sending
		}
		if l.Close.Code != 0 {
			v.val["code"] = l.Close.Code
		}
	}
	v.val["open"] = k.unanswered(l.Time)
	kept := map[string]any{}
	k.kept.each(func(key string, val any) { kept[key] = val })
	v.val["kept"] = kept
	return v
}

// died reports whether a child failed. Signals with which others end a child are not its failure.
func died(c *wire.Child) bool {
	return c != nil && c.Exit != 0 && !slices.Contains([]string{"SIGHUP", "SIGINT", "SIGTERM", "SIGKILL"}, c.Signal)
}
