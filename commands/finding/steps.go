package finding

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// A step is one message for detecting the peer's dialect.
type step struct {
	dialect.Probe              // zero for a listing
	spec          dialect.Spec // zero for a listing
	name          string       // the name of the dialect or of the listing method, for the report
	id            json.RawMessage
	msg           json.RawMessage // nil if the server sends first
	is            *program.Program
	listing       *listing
}

// firstID is the id of the first step's message. A peer would not choose such ids.
const firstID = 70101

// steps returns the steps in order: harmless requests for any peer, messages for single dialects, the listings of servers without
// a specific dialect, and messages that start a session. method is the method to describe, or "" for all.
func steps(sessions bool, method string) (list []*step) {
	for _, s := range all.Detected() {
		if p := s.Detection.Probe; p != nil && (sessions || !p.Session) {
			list = append(list, &step{Probe: *p, spec: s, name: s.Name, is: program.New(p.Is)})
		}
	}
	for i := range listings {
		if l := &listings[i]; l.of == "" || method != "" {
			list = append(list, &step{name: l.method, listing: l})
		}
	}
	slices.SortStableFunc(list, func(a, b *step) int { return cmp.Compare(a.rank(), b.rank()) })
	for i, s := range list {
		s.id = strconv.AppendInt(nil, firstID+int64(i), 10)
		switch {
		case s.listing != nil:
			s.msg = s.listing.message(s.id, method)
		case s.Send != "":
			s.msg, _ = program.New(s.Send).First(nil, (&program.Scope{ID: s.id}).Value)
		}
	}
	return list
}

// rank orders steps, the least intrusive first.
func (s *step) rank() int {
	switch {
	case s.Weak:
		return 0
	case s.listing != nil:
		return 2
	case s.Session:
		return 3
	}
	return 1
}

// familyOf returns the form of messages that a peer understands: "tagged" with the member "jsonrpc" (JSON-RPC 2.0), "untagged" without it,
// or "" if msg does not show the form.
func familyOf(msg json.RawMessage) string {
	switch {
	case scan.Type(msg) != 'o':
		return ""
	case scan.Get(msg, "jsonrpc") != nil:
		return "tagged"
	}
	return "untagged"
}

// answeredBy reports whether msg answers s: one of its members is the id of s.
func (s *step) answeredBy(msg json.RawMessage) bool {
	if s.msg == nil || scan.Type(msg) != 'o' {
		return false
	}
	for _, val := range scan.Members(msg) {
		if bytes.Equal(val, s.id) || bytes.Equal(bytes.Trim(val, `"`), s.id) {
			return true
		}
	}
	return false
}

// recognises reports whether msg is from a server of the dialect of s. request is the message that msg answers, or nil.
func (s *step) recognises(msg, request json.RawMessage) bool {
	if s.is == nil || scan.Type(msg) != 'o' {
		return false
	}
	holds, err := s.is.Holds(msg, (&program.Scope{Request: request}).Value)
	return err == nil && holds
}
