package recorder

import (
	"bytes"
	"context"
	"time"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
)

// A redactor takes the secrets out of messages. It is used by one goroutine at a
// time.
type redactor struct {
	slots [256]*known // names that were met last, by their slot
	known map[string]*known
	paths []*jq.Paths
	warn  func(text string)
	told  bool
}

// known is a member's name, and whether its value is secret.
type known struct {
	name   string
	secret bool
}

func newRedactor(paths []*jq.Paths, warn func(string)) *redactor {
	return &redactor{known: map[string]*known{}, paths: paths, warn: warn}
}

// append appends msg to dst without its secrets. Where no member has the name of a
// secret and the user has named none, it allocates nothing.
func (r *redactor) append(dst, msg []byte) []byte {
	if r.mayHoldSecret(msg) {
		msg = redact.JSON(msg)
	}
	if len(r.paths) > 0 {
		msg = r.chosen(msg)
	}
	return append(dst, msg...)
}

// mayHoldCredentials says that a string in msg may begin with Bearer or Basic, whose
// first letter is b.
func mayHoldCredentials(msg []byte, b byte) bool {
	for {
		i := bytes.IndexByte(msg, b)
		if i < 0 {
			return false
		}
		if msg = msg[i+1:]; credentials(msg) {
			return true
		}
	}
}

// credentials says that b, which follows a b, makes the name of a scheme of it.
func credentials(b []byte) bool {
	return bytes.HasPrefix(b, []byte("earer ")) || bytes.HasPrefix(b, []byte("asic "))
}

// mayHoldSecret is a quick look, which may be wrong in one direction: a member has
// the name of a secret, or somewhere stands what begins credentials. It goes from
// colon to colon, as a name stands before each.
func (r *redactor) mayHoldSecret(msg []byte) bool {
	for at := 0; ; {
		colon := bytes.IndexByte(msg[at:], ':')
		if colon < 0 {
			break
		}
		at += colon + 1
		if name := nameBefore(msg[:at-1]); name != nil && r.secret(name) {
			return true
		}
		if val := scan.Skip(msg, at); val+1 < len(msg) && msg[val] == '"' && msg[val+1]|0x20 == 'b' && credentials(msg[val+2:]) {
			return true
		}
	}
	if bytes.IndexByte(msg, '[') < 0 && scan.Type(msg) == 'o' {
		return false // every string is a member's
	}
	return mayHoldCredentials(msg, 'B') || mayHoldCredentials(msg, 'b')
}

// nameBefore is the string that b ends with, without its quotes; nil: b ends with
// none.
func nameBefore(b []byte) []byte {
	end := len(b) - 1
	for end > 0 && b[end] <= ' ' {
		end--
	}
	if end < 1 || b[end] != '"' {
		return nil
	}
	start := end - 1
	for start >= 0 && b[start] != '"' {
		start--
	}
	return b[start+1 : end]
}

// secret says that the value of a member of this name is. One with an escape in
// it is not remembered.
func (r *redactor) secret(name []byte) bool {
	n := len(name)
	if n == 0 {
		return false
	}
	slot := &r.slots[(n*31+int(name[0])*7+int(name[n-1])*13+int(name[n/2]))&255]
	if k := *slot; k != nil && k.name == string(name) {
		return k.secret
	}
	k := r.known[string(name)]
	if k == nil {
		if bytes.IndexByte(name, '\\') >= 0 || len(r.known) >= namesMost {
			return redact.SecretName(scan.Key(name))
		}
		k = &known{string(name), redact.SecretName(string(name))}
		r.known[k.name] = k
	}
	*slot = k
	return k.secret
}

// namesMost is how many names are remembered: a peer can think of more.
const namesMost = 4096

// programTime bounds what a user's program may take for one message.
const programTime = time.Second

// chosen is msg without what the user's programs select. Where one fails nothing of
// the message is kept.
func (r *redactor) chosen(msg []byte) []byte {
	if scan.Valid(msg, wire.DefaultMaxDepth) != nil {
		return msg
	}
	ctx, cancel := context.WithTimeout(context.Background(), programTime)
	defer cancel()
	var all []string
	for _, p := range r.paths {
		pointers, err := p.Of(ctx, msg)
		if err != nil {
			if !r.told && r.warn != nil {
				r.told = true
				r.warn("--redact fails on a message, of which nothing is recorded: " + err.Error() + " (a ? after what may not be there helps)")
			}
			return withheld
		}
		all = append(all, pointers...)
	}
	return match.Replace(msg, all, withheld)
}

// withheld stands in place of a message that could not be redacted.
var withheld = scan.AppendQuoted(nil, tape.Redacted)
