package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rpcx/wire"
)

// A kind is the type of a key's value.
type kind int

const (
	word kind = iota // a string, a number or a boolean
	yesNo
	list // a list of strings, or one string
	path
	paths // a list of paths, or one path
	lines // a list of strings, or one string; @FILE stands for the content of a file
)

// keys are the keys of profiles. All except endpoint have the names of flags.
var keys = map[string]kind{
	"endpoint": word, "dialect": word, "subprotocol": list, "header": lines, "token-command": word, "account": word,
	"cacert": path, "cert": path, "key": path, "insecure": yesNo, "proxy": word, "resolve": list, "no-environment": yesNo,
	"connect-timeout": word, "wait": word, "timeout": word, "idle": word, "ping": word, "max-message": word, "noise": word, "shutdown-timeout": word,
	"on": list, "hooks": paths, "hook-timeout": word, "on-open": word, "hook-jobs": word, "strict-hooks": yesNo,
	"reconnect": yesNo, "reconnect-for": word, "set": list, "catalog": path, "cache": word, "params-style": word,
}

// defaultKeys are the keys of [default]. They do not include headers, tokens and hooks, because every peer would get
// them.
var defaultKeys = []string{
	"cacert", "connect-timeout", "hook-jobs", "hook-timeout", "idle", "max-message", "noise", "ping", "proxy", "resolve", "shutdown-timeout", "strict-hooks", "timeout", "wait",
}

// setting reads the value of a key.
func (f *file) setting(name, key string, val any) (Setting, error) {
	s, k := Setting{Key: key, where: f.where(name, key)}, keys[key]
	many := k == list || k == paths || k == lines
	items, ok := val.([]any)
	switch {
	case !ok:
		items = []any{val}
	case !many:
		return s, wire.Usagef("%s takes one value, not a list", s.where)
	}
	for _, item := range items {
		text, err := plain(item, k)
		if err == nil && k != yesNo {
			text, err = s.fill(text)
		}
		if err != nil {
			return s, wire.Usagef("%s: %v", s.where, err)
		}
		s.Values = append(s.Values, f.rooted(text, k))
	}
	return s, nil
}

// plain returns a value in the form that flags accept.
func plain(val any, k kind) (string, error) {
	switch v := val.(type) {
	case bool:
		if k == yesNo {
			return strconv.FormatBool(v), nil
		}
	case string:
		if k != yesNo {
			return v, nil
		}
	case int64:
		if k == word {
			return strconv.FormatInt(v, 10), nil
		}
	case float64:
		if k == word {
			return strconv.FormatFloat(v, 'f', -1, 64), nil
		}
	}
	if k == yesNo {
		return "", fmt.Errorf("it must be true or false")
	}
	return "", fmt.Errorf("it must be a string")
}

// fill replaces each ${NAME} with the value of that environment variable, and $${ with ${.
func (s *Setting) fill(text string) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "${")
		if !ok {
			b.WriteString(text)
			return b.String(), nil
		}
		if plain, ok := strings.CutSuffix(before, "$"); ok {
			b.WriteString(plain + "${")
			text = rest
			continue
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !wire.IsName(name) {
			return "", fmt.Errorf("write ${NAME} for a variable, and $${ for a plain ${")
		}
		val, set := os.LookupEnv(name)
		if !set {
			return "", fmt.Errorf("the variable %s is not set", name)
		}
		b.WriteString(before + val)
		s.filled, text = true, after
		if len(val) >= shortestSecret {
			s.secrets = append(s.secrets, val)
		}
	}
}

// rooted bases a relative path on the directory of the file.
func (f *file) rooted(text string, k kind) string {
	at := ""
	switch k {
	case path, paths:
	case lines:
		if !strings.HasPrefix(text, "@") {
			return text
		}
		at, text = "@", text[1:]
	default:
		return text
	}
	if text == "" || filepath.IsAbs(text) {
		return at + text
	}
	return at + filepath.Join(filepath.Dir(f.path), text)
}
