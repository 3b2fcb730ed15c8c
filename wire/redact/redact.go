// Package redact replaces secrets in traces, command lines and files by "…". It recognizes them by their names and
// forms.
package redact

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Mark replaces a secret.
const Mark = "…"

// JSON replaces the secret strings in msg by "…", as on tapes. It redacts text that is not JSON in the same way as
// Text.
func JSON(msg []byte) []byte {
	switch suspect, valid := suspicious(msg); {
	case !valid:
		return Text(msg)
	case suspect:
		return (&Numbering{plain: true, Sessions: true}).JSON(msg)
	}
	return msg
}

// suspicious reports whether msg may contain a secret, and whether it is JSON.
func suspicious(msg []byte) (suspect, valid bool) {
	suspect = HasKnown(msg)
	err := scan.Keys(msg, wire.DefaultMaxDepth,
		func(name []byte) { suspect = suspect || SecretKey(name) },
		func(quoted []byte) { suspect = suspect || Suspect(quoted, false) })
	return suspect, err == nil
}

// Header returns the redacted value of a header line.
func Header(name, value string) string {
	if SecretField(name) {
		return Mark
	}
	return string(Text([]byte(value)))
}

// Text returns b without its secrets: values beside names that mean secrets, and values that have the form of a secret.
func Text(b []byte) []byte { return new(Stream).Append(nil, Spans(b)) }

// Places in a name where a word from secretWords makes it the name of a secret.
const (
	anywhere = iota // in a name
	atEnd           // at the end of a name
	whole           // as the whole name
	member          // as the whole name of a member of a message; elsewhere, the word is an ordinary one
)

// secretWords are words that mean a secret, in the form of plainName.
var secretWords = [][]string{
	anywhere: {
		"password", "passwd", "passphrase", "secret", "apikey", "authorization", "cookie",
		"accesskey", "privatekey", "credential", "bearer", "mnemonic", "jwt", "mcpsessionid",
	},
	atEnd:  {"token", "auth", "otp"},
	whole:  {"pwd"},
	member: {"sessionid", "pin", "cvv", "cvc", "signature"},
}

// notSecret are endings of names, in the form of plainName, that mean something other than a secret: a position, an id,
// a word, or a fact about a secret.
var notSecret = []string{
	"progresstoken", "workdonetoken", "partialresulttoken", "canceltoken", "cancellationtoken", "nexttoken", "pagetoken",
	"continuationtoken", "continuetoken", "cursortoken", "resumetoken", "synctoken", "skiptoken", "deltatoken", "changetoken", "watchtoken",
	"stoptoken", "eostoken", "bostoken", "padtoken", "unktoken", "masktoken", "septoken", "clstoken",
	"url", "uri", "endpoint", "endpoints", "type", "types", "server", "servers", "supported", "required", "enabled", "format", "policy",
	"expires", "expiresat", "expiresin", "expiry", "ttl", "length", "description", "scheme", "schemes", "method", "methods", "path", "file",
	"allowcredentials", "secretary", "websocketkey", "idempotencykey", "cachekey", "surrogatekey",
}

// plainName returns a name in lower case without separators.
func plainName(name string) string { return string(appendPlain(nil, []byte(name))) }

func appendPlain(dst, name []byte) []byte {
	for _, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			dst = append(dst, c|0x20)
		case c != '_' && c != '-' && c != '.' && c != ' ':
			dst = append(dst, c)
		}
	}
	return dst
}

// SecretName reports whether the value of a member, header or parameter of this name must not be shown or stored.
func SecretName(name string) bool { return isSecret([]byte(name), whole) }

// SecretField is like SecretName, but for a header or a parameter of a URL, where more names mean secrets.
func SecretField(name string) bool { return SecretName(name) || secretField(name) }

// SecretMember is like SecretName, but for a member of a message.
func SecretMember(name string) bool { return isSecret([]byte(name), member) }

// SecretKey is like SecretMember, but for a name in JSON form without quotes.
func SecretKey(raw []byte) bool { return isSecret(scan.Unescaped(raw), member) }

// isSecret reports whether a name contains one of the words at the places up to last. It does not allocate, and compares only words
// whose letters all occur in the name.
func isSecret(name []byte, last int) bool {
	has := letters(name)
	for _, set := range letterSets() {
		if has&set == set {
			return hasWord(name, has, last)
		}
	}
	return false
}

// hasWord is like isSecret, but has is the set of letters in the name.
func hasWord(name []byte, has uint32, last int) bool {
	var room [longestName]byte
	name = appendPlain(room[:0], name)
	sets := letterSets()
	for place, words := range secretWords[:last+1] {
		for i, word := range words {
			if set := sets[i]; has&set == set && isAt(place, name, word) {
				return !isNotSecret(name)
			}
		}
		sets = sets[len(words):]
	}
	return false
}

// isNotSecret reports whether a name, in the form of plainName, has one of the endings in notSecret.
func isNotSecret(name []byte) bool {
	return slices.ContainsFunc(notSecret, func(end string) bool { return isAt(atEnd, name, end) })
}

func isAt(place int, name []byte, word string) bool {
	switch place {
	case anywhere:
		return bytes.Contains(name, []byte(word))
	case atEnd:
		return bytes.HasSuffix(name, []byte(word))
	}
	return string(name) == word
}

// letterSets returns the letters of each word in secretWords.
var letterSets = sync.OnceValue(func() []uint32 {
	return wire.Map(slices.Concat(secretWords...), func(word string) uint32 { return letters([]byte(word)) })
})

// letters returns the set of letters, and of a few other characters, in text.
func letters(text []byte) (set uint32) {
	for _, c := range text {
		if c >= 'A' {
			set |= 1 << (c & 31)
		}
	}
	return set
}

// secretField reports whether a header or a parameter of a URL is a secret, although the name means nothing elsewhere.
func secretField(name string) bool {
	plain := plainName(name)
	return strings.HasSuffix(plain, "key") && !isNotSecret([]byte(plain)) || strings.HasSuffix(plain, "signature") || plain == "sig" || plain == "code"
}
