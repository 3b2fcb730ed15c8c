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

// identity returns values that identify the peer of e: its address and user, and the working directory if that makes a
// difference.
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
	if a.Command != nil { // a relative path may mean another program elsewhere
		if folder, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	return []any{e.Dialect, e.Framing, e.Reversed, e.Demo, e.Tape, a.Scheme, user, a.Host, path, a.URLPath, a.Command, folder}, nil
}

// environment returns the variables of a command, because other variables may cause other answers. It omits those that
// shells change for each command. It is nil for an endpoint without a command.
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

// Fingerprint returns a hash of e and everything else that opens a session: the working directory, and lists of words.
func Fingerprint(e endpoint.Endpoint, folder string, words ...[]string) string {
	id, err := identity(e)
	if err != nil {
		id = []any{e.String()}
	}
	return digest(append(id, folder, words)...)
}

// digest returns a hash of vals, which are strings and lists of strings.
func digest(vals ...any) string {
	b, _ := scan.Marshal(vals) // never fails for strings
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
