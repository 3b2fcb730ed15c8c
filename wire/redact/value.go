package redact

import (
	"bytes"
	"regexp"
	"sync"
)

// telltales are substrings, one of which every secret that is recognised by its value contains.
var telltales = [][]byte{
	[]byte("eyJ"), []byte("-----BEGIN "), []byte("@"), []byte("ghp_"), []byte("gho_"), []byte("ghs_"), []byte("ghu_"), []byte("ghr_"), []byte("github_pat_"), []byte("glpat-"),
	[]byte("sk-"), []byte("k_live_"), []byte("xox"), []byte("AKIA"), []byte("ASIA"), []byte("AIza"), []byte("ya29."), []byte("npm_"), []byte("hf_"), []byte("pypi-"),
}

// Telltale reports whether text may contain a secret that is recognised by its value. It is fast, for messages that have none.
func Telltale(text []byte) bool {
	for _, t := range telltales {
		if bytes.Contains(text, t) {
			return true
		}
	}
	return false
}

// knownValue matches JSON Web Tokens, private keys in PEM, URLs with a password, and keys with the prefix of their service.
var knownValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*` +
		`|-----BEGIN [A-Z ]*PRIVATE KEY-----` +
		`|[a-z][a-z0-9+.-]*://[^/\s:@"]*:[^/\s@"]+@` +
		`|\b(gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{18,}|sk-[A-Za-z0-9_-]{20,}|xox[abeprs]-[A-Za-z0-9-]{10,}|A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|[rs]k_live_[A-Za-z0-9]{16,}|ya29\.[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,})\b`)
})

// known reports whether a string contains a secret that is recognised by its value.
func known(text []byte) bool { return knownValue().Match(text) }
