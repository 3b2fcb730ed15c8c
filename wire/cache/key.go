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

// identity returns values that identify the peer of e: how it is reached, with
// its user, and the working folder if that makes a difference.
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
	if a.Command != nil { // a relative path may lead to another program elsewhere
		if folder, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	return []any{e.Dialect, e.Framing, e.Reversed, e.Demo, e.Tape, a.Scheme, user, a.Host, path, a.URLPath, a.Command, folder}, nil
}

// environment returns the variables that a command is run with, since it may
// answer differently with others. Those that a shell changes with each command
// are left out. It is nil for an endpoint that runs no command.
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

// Fingerprint returns a hash of e and of all else that a session is opened
// with: the working folder, and lists of words. It differs if any of these
// differs.
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
