package format

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// traced is how much of a message -v shows.
const traced = 2 << 10

// Trace shows a message for -v: its direction (> sent, < received), the time
// since the start, and the message, redacted and cut.
func (c *Console) Trace(d wire.Direction, msg []byte, at time.Duration) {
	mark := "> "
	if d == wire.Recv {
		mark = "< "
	}
	text := scan.Compact(nil, bytes.TrimSpace(Redact(msg)))
	note := ""
	if len(text) > traced {
		text = bytes.ToValidUTF8(text[:traced], nil)
		note = fmt.Sprintf("… (%d bytes)", len(msg))
	}
	c.line(colorFaint, fmt.Sprintf("%s%.3fs ", mark, at.Seconds()), string(text)+note)
}

// Redact returns msg with what looks like a secret replaced by "…", at every
// depth: the value of each member whose name says so (but null, true and
// false), and what follows Bearer or Basic in a string. It works through
// whatever is JSON in msg.
func Redact(msg []byte) []byte {
	var out []byte
	done := 0 // msg[:done] is in out
	for i := 0; i < len(msg); {
		if msg[i] != '"' {
			i++
			continue
		}
		end := stringEnd(msg, i)
		from, to := credentials(msg, i, end)
		if isKey(msg, end) && secret(msg[i:end]) {
			from = blank(msg, blank(msg, end)+1)
			to = secretValue(msg, from, numeric(msg[i:end]))
		}
		if to > from {
			out = append(append(out, msg[done:from]...), `"…"`...)
			done, end = to, to
		}
		i = max(end, i+1)
	}
	if out == nil {
		return msg
	}
	return append(out, msg[done:]...)
}

// secretValue is the end of the secret at i; i itself where there is none. What
// is broken is secret to its end.
func secretValue(msg []byte, i int, number bool) int {
	if i >= len(msg) {
		return i
	}
	switch scan.Type(msg[i:]) {
	case 't', 'f', '0':
		return i
	case 'n':
		if number {
			return i
		}
	}
	end, err := scan.Value(msg, i, wire.DefaultMaxDepth)
	if err != nil {
		return len(msg)
	}
	return end
}

// credentials finds the value of an authorization header in the string that
// stands from i to end.
func credentials(msg []byte, i, end int) (from, to int) {
	for _, scheme := range []string{`"Bearer `, `"bearer `, `"Basic `, `"basic `} {
		if bytes.HasPrefix(msg[i:end], []byte(scheme)) {
			return i, end
		}
	}
	return 0, 0
}

// secrets are parts of names, in lower case and without marks between words.
var secrets = []string{
	"password", "passwd", "passphrase", "secret", "apikey", "authorization", "cookie",
	"accesskey", "privatekey", "credential", "bearer",
}

// notSecret are names that end in token and are none.
var notSecret = []string{"progresstoken", "workdonetoken", "partialresulttoken", "canceltoken", "cancellationtoken", "nexttoken", "pagetoken"}

// plainName is a name as the tables have it.
func plainName(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// secret says that the value of a quoted key is not to be shown.
func secret(key []byte) bool { return len(key) >= 2 && SecretName(scan.Key(key[1:len(key)-1])) }

// SecretName says that what has this name (a member, a header, a parameter) is
// not to be shown.
func SecretName(name string) bool {
	name = plainName(name)
	for _, s := range secrets {
		if strings.Contains(name, s) {
			return true
		}
	}
	if !strings.HasSuffix(name, "token") {
		return name == "pwd"
	}
	for _, s := range notSecret {
		if strings.HasSuffix(name, s) {
			return false
		}
	}
	return true
}

// numeric says that a number under this key is no secret: tokens that are
// numbers are positions and ids.
func numeric(key []byte) bool {
	return strings.HasSuffix(plainName(scan.Key(key[1:len(key)-1])), "token")
}
