// Package redact replaces secrets by "…" in traces, command lines and files. It recognizes secrets by their names and
// forms.
package redact

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Mark is the replacement of a secret.
const Mark = "…"

// JSON returns msg with "…" in place of its secret strings, as on a tape. It redacts other texts as Text does.
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
		func(quoted []byte) { suspect = suspect || Suspect(quoted) })
	return suspect, err == nil
}

// Header returns the redacted value of a header line.
func Header(name, value string) string {
	if SecretName(name) {
		return Mark
	}
	return string(Text([]byte(value)))
}

// Text returns b without its secrets: the values beside names of secrets, and those that their form reveals.
func Text(b []byte) []byte { return new(Stream).Append(nil, Spans(b)) }

// secrets are parts of names, in the form of plainName, that mean a secret anywhere in a name.
var secrets = []string{
	"password", "passwd", "passphrase", "secret", "apikey", "authorization", "cookie",
	"accesskey", "privatekey", "credential", "bearer", "mnemonic", "jwt", "mcpsessionid",
}

// secretWords are names, in the form of plainName, that mean a secret as a whole name or at its end.
var secretWords = []string{"auth", "otp"}

// notSecret are ends of names, in the form of plainName, that mean a position, an id, a word, or a fact about a secret.
var notSecret = []string{
	"progresstoken", "workdonetoken", "partialresulttoken", "canceltoken", "cancellationtoken", "nexttoken", "pagetoken",
	"continuationtoken", "continuetoken", "cursortoken", "resumetoken", "synctoken", "skiptoken", "deltatoken", "changetoken", "watchtoken",
	"stoptoken", "eostoken", "bostoken", "padtoken", "unktoken", "masktoken", "septoken", "clstoken",
	"url", "uri", "endpoint", "endpoints", "type", "types", "server", "servers", "supported", "required", "enabled", "format", "policy",
	"expires", "expiresat", "expiresin", "expiry", "ttl", "length", "description", "scheme", "schemes", "method", "methods", "path", "file",
	"allowcredentials", "secretary",
}

// plainName returns a name in lower case without separators.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', '.', ' ':
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// SecretName reports whether the value of a member, header or parameter of this name must not be shown or stored.
func SecretName(name string) bool {
	name = plainName(name)
	ends := func(with string) bool { return strings.HasSuffix(name, with) }
	return (name == "pwd" || ends("token") || slices.ContainsFunc(secretWords, ends) ||
		slices.ContainsFunc(secrets, func(part string) bool { return strings.Contains(name, part) })) &&
		!slices.ContainsFunc(notSecret, ends)
}

// members are names, in the form of plainName, that mean secrets only in messages.
var members = []string{"sessionid", "pin", "cvv", "cvc", "signature"}

// SecretMember does what SecretName does, for a member of a message.
func SecretMember(name string) bool {
	return SecretName(name) || slices.Contains(members, plainName(name))
}

// SecretKey does what SecretMember does, for a name in JSON form without quotes.
func SecretKey(raw []byte) bool { return isMember(scan.Unescaped(raw)) }

// secretParameter reports whether a URL parameter is secret only because it is in a URL.
func secretParameter(name string) bool {
	plain := plainName(name)
	return strings.HasSuffix(plain, "key") || strings.HasSuffix(plain, "signature") || plain == "sig" || plain == "code"
}

// isMember does what SecretMember does, but is fast for most harmless names.
func isMember(text []byte) bool {
	has := letters(text)
	for _, name := range letterSets() {
		if has&name == name {
			return SecretMember(string(text))
		}
	}
	return false
}

// letters returns the set of letters, and of a few other characters, in text.
func letters(text []byte) (set uint32) {
	for _, c := range text {
		if c >= 'A' {
			set |= 1 << (c & 31)
		}
	}
	return set
}

// letterSets contains the letters of the parts of names in secrets.
var letterSets = sync.OnceValue(func() (sets []uint32) {
	for _, name := range slices.Concat(secrets, secretWords, members, []string{"pwd", "token"}) {
		sets = append(sets, letters([]byte(name)))
	}
	return sets
})
