// Package redact replaces secrets by "…" in traces, command lines and files. It recognises them by their names.
package redact

import (
	"bytes"
	"strings"
	"unicode"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Mark replaces a secret.
const Mark = "…"

// JSON returns msg with secrets replaced by "…", at every depth: the value of each member whose name SecretName knows (numbers,
// null, true and false stay), each string that begins with Bearer or Basic, and each that contains a secret known by its value. msg need not be valid: JSON inside it is redacted
// as well.
func JSON(msg []byte) []byte {
	var out []byte
	done := 0 // msg[:done] is in out
	for i := 0; i < len(msg); {
		if msg[i] != '"' {
			i++
			continue
		}
		end := scan.StringEnd(msg, i)
		from, to := credentials(msg, i, end)
		if scan.IsKeyEnd(msg, end) && secret(msg[i:end]) {
			from = scan.Skip(msg, scan.Skip(msg, end)+1)
			to = secretValue(msg, from)
		}
		if to > from {
			out = append(out, msg[done:from]...)
			out = append(out, `"`+Mark+`"`...)
			done, end = to, to
		}
		i = max(end, i+1)
	}
	if out == nil {
		return msg
	}
	return append(out, msg[done:]...)
}

// secretValue returns the end of the secret at i, or i if there is none. Broken bytes count as secret to the end.
func secretValue(msg []byte, i int) int {
	if i >= len(msg) {
		return i
	}
	switch scan.Type(msg[i:]) {
	case 't', 'f', '0', 'n':
		return i
	}
	end, err := scan.Value(msg, i, wire.DefaultMaxDepth)
	if err != nil {
		return len(msg)
	}
	return end
}

// credentials returns where the string from i to end contains the value of an Authorization header, or 0, 0 if it does
// not.
func credentials(msg []byte, i, end int) (from, to int) {
	if end-i > 2 && holdsSecret(msg[i+1:end-1]) {
		return i, end
	}
	return 0, 0
}

// holdsSecret reports whether a string contains the value of an Authorization header, or a secret known by its value.
func holdsSecret(text []byte) bool {
	if Telltale(text) && known(text) {
		return true
	}
	for _, scheme := range []string{"Bearer ", "bearer ", "Basic ", "basic "} {
		at := bytes.Index(text, []byte(scheme))
		if at == 0 || at > 1 && text[at-2] == ':' { // at the start of the string, or of a header line's value
			return true
		}
	}
	return false
}

// secrets are parts of names, as plainName spells them, that mean a secret anywhere in a name.
var secrets = []string{
	"password", "passwd", "passphrase", "secret", "apikey", "authorization", "cookie",
	"accesskey", "privatekey", "credential", "bearer", "mnemonic", "jwt", "mcpsessionid",
}

// secretWords are names, as plainName spells them, that mean a secret alone or at the end of a name.
var secretWords = []string{"auth", "otp"}

// notSecret are endings of names that contain "token" but mean a position or an id.
var notSecret = []string{"progresstoken", "workdonetoken", "partialresulttoken", "canceltoken", "cancellationtoken", "nexttoken", "pagetoken"}

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

// secret reports whether the value of a quoted key must be redacted.
func secret(key []byte) bool { return len(key) >= 2 && SecretName(scan.Key(key[1:len(key)-1])) }

// SecretName reports whether the value of a member, header or parameter with this name must not be shown or stored.
func SecretName(name string) bool {
	name = plainName(name)
	for _, s := range secrets {
		if strings.Contains(name, s) {
			return true
		}
	}
	for _, s := range secretWords {
		if strings.HasSuffix(name, s) {
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
