package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// identity returns what tells the peer of e from all others: how it is reached,
// with its user, and where that depends on our working folder, that too.
func identity(e endpoint.Endpoint) ([]any, error) {
	a := e.Address
	user, path, folder := "", a.Path, ""
	if a.User != nil {
		user = a.User.String()
	}
	var err error
	if path != "" {
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	if a.Command != nil { // which program that is may depend on where we are
		if folder, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	return []any{e.Dialect, e.Framing, e.Turned, e.Demo, e.Tape, a.Scheme, user, a.Host, path, a.URLPath, a.Command, folder}, nil
}

// environment returns the variables that a command is run with: with others it may
// answer otherwise. Those that a shell changes with each command do not count. nil
// for an endpoint that runs none.
func environment(e endpoint.Endpoint) []string {
	if e.Address.Command == nil {
		return nil
	}
	vars := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"_", "SHLVL", "PWD", "OLDPWD"}, name)
	})
	slices.Sort(vars)
	return vars
}

// Fingerprint returns a hash of e and of what else a session is opened with: the
// working folder, and words, each list by itself. Sessions that differ in any of
// these have different fingerprints.
func Fingerprint(e endpoint.Endpoint, folder string, words ...[]string) string {
	id, err := identity(e)
	if err != nil {
		id = []any{e.String()}
	}
	return digest(append(id, folder, words)...)
}

// digest returns a hash of vals, which are strings and lists of strings.
func digest(vals ...any) string {
	b, _ := scan.Marshal(vals) // strings, all of them
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
