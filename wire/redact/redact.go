// Package redact replaces secrets by "…" in traces, command lines and files. It recognises them by their names.
package redact

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Mark replaces a secret.
const Mark = "…"

// JSON returns msg with its secret strings replaced by "…", as a tape would have them. What is not JSON is redacted like
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

// suspicious reports whether msg may have a secret, and whether it is JSON.
func suspicious(msg []byte) (suspect, valid bool) {
	suspect = HasKnown(msg)
	err := scan.Keys(msg, wire.DefaultMaxDepth,
		func(name []byte) { suspect = suspect || SecretKey(name) },
		func(quoted []byte) { suspect = suspect || Suspect(quoted) })
	return suspect, err == nil
}

// Header returns the value of a header line without its secrets.
func Header(name, value string) string {
	if SecretName(name) {
		return Mark
	}
	return string(Text([]byte(value)))
}

// Text returns b without its secrets: the values beside names of secrets, and the parts that are known by their form.
func Text(b []byte) []byte { return new(Stream).Append(nil, Spans(b)) }

// secrets are parts of names, as plainName spells them, that mean a secret anywhere in a name.
var secrets = []string{
	"password", "passwd", "passphrase", "secret", "apikey", "authorization", "cookie",
	"accesskey", "privatekey", "credential", "bearer", "mnemonic", "jwt", "mcpsessionid",
}

// secretWords are names, as plainName spells them, that denote a secret as a whole name or at the end of a name.
var secretWords = []string{"auth", "otp"}

// notSecret are endings of names, as plainName spells them, of positions, ids, words, and facts about a secret.
var notSecret = []string{
	"progresstoken", "workdonetoken", "partialresulttoken", "canceltoken", "cancellationtoken", "nexttoken", "pagetoken",
	"continuationtoken", "continuetoken", "cursortoken", "resumetoken", "synctoken", "skiptoken", "deltatoken", "changetoken", "watchtoken",
	"stoptoken", "eostoken", "bostoken", "padtoken", "unktoken", "masktoken", "septoken", "clstoken",
	"url", "uri", "endpoint", "endpoints", "type", "types", "server", "servers", "supported", "required", "enabled", "format", "policy",
	"expires", "expiresat", "expiresin", "expiry", "ttl", "length", "description", "scheme", "schemes", "method", "methods", "path", "file",
	"allowcredentials", "secretary",
}

// plainName spells a name as the tables do: lower case without separators.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', '.', ' ':
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// SecretName reports whether the value of a member, header or parameter with this name must not be shown or stored.
func SecretName(name string) bool {
	name = plainName(name)
	ends := func(with string) bool { return strings.HasSuffix(name, with) }
	return (name == "pwd" || ends("token") || slices.ContainsFunc(secretWords, ends) ||
		slices.ContainsFunc(secrets, func(part string) bool { return strings.Contains(name, part) })) &&
		!slices.ContainsFunc(notSecret, ends)
}

// members are names, as plainName spells them, of secrets in messages alone: in other places they are words.
var members = []string{"sessionid", "pin", "cvv", "cvc", "signature"}

// SecretMember is SecretName for a member of a message.
func SecretMember(name string) bool {
	return SecretName(name) || slices.Contains(members, plainName(name))
}

// SecretKey is SecretMember for a name as it is in JSON, without quotes.
func SecretKey(raw []byte) bool { return isMember(scan.Unescaped(raw)) }

// secretParameter reports whether a parameter in a URL is secret although its name does not denote a secret elsewhere.
func secretParameter(name string) bool {
	plain := plainName(name)
	return strings.HasSuffix(plain, "key") || strings.HasSuffix(plain, "signature") || plain == "sig" || plain == "code"
}

// isMember is SecretMember, but fast for most names that are not secret.
func isMember(text []byte) bool {
	has := letters(text)
	for _, name := range letterSets() {
		if has&name == name {
			return SecretMember(string(text))
		}
	}
	return false
}

// letters returns the set of the letters in text, and a few other characters.
func letters(text []byte) (set uint32) {
	for _, c := range text {
		if c >= 'A' {
			set |= 1 << (c & 31)
		}
	}
	return set
}

// letterSets has the letters of the parts of names that mean a secret.
var letterSets = sync.OnceValue(func() (sets []uint32) {
	for _, name := range slices.Concat(secrets, secretWords, members, []string{"pwd", "token"}) {
		sets = append(sets, letters([]byte(name)))
	}
	return sets
})
