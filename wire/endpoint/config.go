package endpoint

import (
	"strings"

	"rpcx/wire"
	"rpcx/wire/profile"
	"rpcx/wire/transport"
)

// Config is the prefix of endpoints that name a server in another program's configuration file. FILE#NAME follows.
const Config = "mcp+config:"

// ConfigFile returns the file in an endpoint mcp+config:FILE that does not name a server.
func ConfigFile(text string) (file string, ok bool) {
	after, ok := strings.CutPrefix(text, Config)
	if !ok {
		return "", false
	}
	file, name := cutName(after)
	return file, name == "" && file != ""
}

// cutName splits FILE#NAME. Names of directories may contain "#".
func cutName(text string) (file, name string) {
	if i := strings.LastIndexByte(text, '#'); i >= 0 && !strings.Contains(text[i:], "/") {
		return text[:i], text[i+1:]
	}
	return text, ""
}

// config parses the part of an endpoint after "config:".
func (e *Endpoint) config(after string) error {
	file, name := cutName(after)
	switch {
	case e.Dialect != "mcp" || e.Framing != "" || e.Reversed != "":
		return wire.Usagef("config: must be written as %sFILE#NAME", Config)
	case file == "":
		return wire.Usagef("%s needs a file", Config)
	case name == "":
		names, err := profile.ServerNames(file)
		if err != nil {
			return err
		}
		return wire.Usagef("%s%s names no server: add #NAME, one of %s", Config, file, strings.Join(names, ", "))
	}
	s, err := profile.FindServer(file, name)
	if err != nil {
		return err
	}
	e.Profile = s.Settings
	if s.URL == "" {
		e.Address = transport.Address{Scheme: "exec", Command: s.Command, Env: s.Env, Dir: s.Dir}
		return nil
	}
	if e.Address, err = transport.Parse(s.URL); err == nil && !e.Address.IsHTTP() {
		err = wire.Usagef("its url does not begin with http:// or https://")
	}
	if err != nil {
		return s.Settings.Endpoint.Fault(err)
	}
	return nil
}
