package profile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/userfile"
)

// A Server is an entry in the server list of an editor or agent: a JSON file with the member mcpServers, or servers in
// VS Code.
type Server struct {
	URL      string   // "" for a server with a command
	Command  []string // the command and its arguments
	Env      []string // NAME=VALUE
	Dir      string   // the working directory; "" is the current one
	Settings *Profile // the headers
}

// entry is a server as the file describes it.
type entry struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]any    `json:"env"`
	EnvFile string            `json:"envFile"`
	Dir     string            `json:"cwd"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// servers reads the entries of a file. It refuses a file that other users can write to.
func servers(file string) (map[string]json.RawMessage, error) {
	b, err := userfile.Read(file)
	if err != nil {
		return nil, wire.Usagef("%v", err)
	}
	if err := trusted(file); err != nil {
		return nil, err
	}
	var doc struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
		Servers    map[string]json.RawMessage `json:"servers"`
	}
	if err := json.Unmarshal(withoutComments(b), &doc); err != nil {
		return nil, wire.Usagef("%s: %v", file, err)
	}
	if doc.MCPServers == nil {
		doc.MCPServers = doc.Servers
	}
	if len(doc.MCPServers) == 0 {
		return nil, wire.Usagef("%s has no servers: it contains neither mcpServers nor servers", file)
	}
	return doc.MCPServers, nil
}

// ServerNames returns the names of the servers in a file.
func ServerNames(file string) ([]string, error) {
	all, err := servers(file)
	return slices.Sorted(maps.Keys(all)), err
}

// FindServer returns a server from a file, with its variables replaced. Errors are usage Faults.
func FindServer(file, name string) (*Server, error) {
	all, err := servers(file)
	if err != nil {
		return nil, err
	}
	raw, ok := all[name]
	if !ok {
		names := slices.Sorted(maps.Keys(all))
		return nil, wire.Usagef("%s has no server %s; it has %s", file, wire.Quote(name), strings.Join(names, ", ")).
			WithHint(catalog.DidYouMean(name, names))
	}
	where := file + "#" + name
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, wire.Usagef("%s: %v", where, err)
	}
	v := &variables{file: file}
	s, err := v.server(&e)
	if err != nil {
		return nil, wire.Usagef("%s: %v", where, err)
	}
	folder, err := filepath.Abs(filepath.Dir(file))
	s.Settings = &Profile{Name: name, Folder: folder, Endpoint: Setting{Key: "endpoint", where: where, filled: v.secrets != nil, secrets: v.secrets}}
	var headers []string
	for _, header := range slices.Sorted(maps.Keys(e.Headers)) {
		if strings.ContainsAny(header, "@: \t\r\n") || header == "" {
			return nil, wire.Usagef("%s: %s is not the name of a header", where, wire.Quote(header))
		}
		headers = append(headers, header+": "+e.Headers[header])
	}
	if headers != nil {
		s.Settings.Settings = []Setting{{Key: "header", Values: headers, where: where + ": headers", filled: true}}
	}
	return s, err
}

// server converts an entry and replaces its variables.
func (v *variables) server(e *entry) (*Server, error) {
	switch {
	case e.Command != "" && e.URL != "":
		return nil, wire.Usagef("it has both command and url")
	case e.Command == "" && e.URL == "":
		return nil, wire.Usagef("it has neither command nor url")
	}
	s := &Server{URL: v.fill(e.URL), Dir: v.fill(e.Dir)}
	if e.Command != "" {
		s.Command = append(s.Command, v.fill(e.Command))
	}
	s.Command = append(s.Command, wire.Map(e.Args, v.fill)...)
	if e.EnvFile != "" {
		b, err := userfile.Read(v.fill(e.EnvFile))
		if err != nil {
			return nil, err
		}
		s.Env = assignments(b)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		switch val := e.Env[name].(type) {
		case string:
			s.Env = append(s.Env, name+"="+v.fill(val))
		case nil: // VS Code unsets a variable that is null
		default:
			text, _ := json.Marshal(val)
			s.Env = append(s.Env, name+"="+string(text))
		}
	}
	for name, val := range e.Headers {
		e.Headers[name] = v.fill(val)
	}
	return s, v.err
}

// assignments reads the lines NAME=VALUE in a file.
func assignments(b []byte) (env []string) {
	for line := range strings.Lines(string(userfile.Unmarked(b))) {
		name, val, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		if n := len(val); n >= 2 && (val[0] == '"' || val[0] == '\'') && val[n-1] == val[0] {
			val = val[1 : n-1]
		}
		env = append(env, strings.TrimSpace(strings.TrimPrefix(name, "export "))+"="+val)
	}
	return env
}

// variables replaces the variables of an entry in the same way as the programs that use such files.
type variables struct {
	file    string
	secrets []string // the values of environment variables
	err     error    // the first error
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}]*\}`) })

// fill replaces the variables in a string, which have the form ${NAME}.
func (v *variables) fill(text string) string {
	return variable().ReplaceAllStringFunc(text, func(ref string) string {
		val, err := v.value(ref[2 : len(ref)-1])
		v.err = cmp.Or(v.err, err)
		return val
	})
}

// value returns the value of a variable: ${NAME} and ${NAME:-DEFAULT} as in Claude Code, or ${env:NAME} and predefined
// names as in VS Code and Cursor.
func (v *variables) value(name string) (string, error) {
	folder, err := filepath.Abs(filepath.Dir(v.file))
	if base := filepath.Base(folder); base == ".vscode" || base == ".cursor" {
		folder = filepath.Dir(folder)
	}
	switch name {
	case "workspaceFolder":
		return folder, err
	case "workspaceFolderBasename":
		return filepath.Base(folder), err
	case "userHome":
		return os.UserHomeDir()
	case "cwd":
		return os.Getwd()
	case "pathSeparator", "/":
		return string(filepath.Separator), nil
	}
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		return v.secret(os.Getenv(env)), nil
	}
	if input, ok := strings.CutPrefix(name, "input:"); ok {
		return "", wire.Usagef("${input:%s} is not supported, because it asks the user; use ${env:NAME} instead", input)
	}
	name, otherwise, hasOther := strings.Cut(name, ":-")
	if !wire.IsName(name) {
		return "", wire.Usagef("unknown variable ${%s}", name)
	}
	val, set := os.LookupEnv(name)
	switch {
	case set && (val != "" || !hasOther):
		return v.secret(val), nil
	case hasOther:
		return otherwise, nil
	}
	return "", wire.Usagef("the variable %s is not set", name)
}

func (v *variables) secret(val string) string {
	if len(val) >= shortestSecret {
		v.secrets = append(v.secrets, val)
	}
	return val
}

// withoutComments removes comments, and commas after last elements, from JSON. VS Code allows both.
func withoutComments(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		switch rest := b[i:]; {
		case b[i] == '"':
			end := scan.StringEnd(b, i)
			out = append(out, b[i:end]...)
			i = end - 1
		case bytes.HasPrefix(rest, []byte("//")):
			if i += bytes.IndexByte(append(rest[:len(rest):len(rest)], '\n'), '\n'); i < len(b) {
				out = append(out, '\n')
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return out
			}
			i += end + 3
		case b[i] == '}' || b[i] == ']':
			out = append(bytes.TrimSuffix(bytes.TrimRight(out, " \t\r\n"), []byte(",")), b[i])
		default:
			out = append(out, b[i])
		}
	}
	return out
}
