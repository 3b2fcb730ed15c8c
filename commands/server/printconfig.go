package server

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// pathFlags are the flags of serve with files or directories as their values. These values become absolute, because an
// editor starts the server in another directory.
var pathFlags = []string{"--hooks", "--catalog", "--artifacts", "--record", "--state-key", "--token", "--cert", "--key", "--cacert"}

// Prints reports whether to print a configuration file's entry in place of starting a server.
func (o *Options) Prints() bool { return o.printConfig }

// PrintConfig prints the entry with which an editor or agent starts this server or connects to it.
func (o *Options) PrintConfig(run *env.Env, e endpoint.Endpoint) error {
	var entry scan.Object
	switch {
	case e.Address.Scheme == "stdio":
		program, err := os.Executable()
		if err != nil {
			return err
		}
		entry.Text("command", program)
		entry.Add("args", scan.TextsOf(absolute(slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool {
			return strings.HasPrefix(arg, "--print-config")
		}))))
	case e.Address.IsHTTP() && e.Address.Path == "" && !strings.HasSuffix(e.Address.Host, ":0"):
		entry.Text("type", "http")
		entry.Text("url", e.Address.String())
	default:
		return run.Line.Usage("--print-config needs mcp+stdio:, or mcp+http:// with a port")
	}
	name := "rpcx"
	if len(o.Hooks.Files) > 0 {
		base, _ := filepath.Abs(o.Hooks.Files[0])
		name = cmp.Or(strings.TrimSuffix(filepath.Base(base), filepath.Ext(base)), name)
	}
	return cmdline.Print(os.Stdout, string(scan.Pair("mcpServers", scan.Pair(name, entry.End())))+"\n")
}

// absolute returns the arguments with absolute paths.
func absolute(args []string) []string {
	for i, arg := range args {
		flag, val, joined := strings.Cut(arg, "=")
		switch {
		case !slices.Contains(pathFlags, flag):
		case joined:
			args[i] = flag + "=" + absolutePath(val)
		case i+1 < len(args):
			args[i+1] = absolutePath(args[i+1])
		}
	}
	return args
}

func absolutePath(path string) string {
	path, isFile := strings.CutPrefix(path, "@")
	if abs, err := filepath.Abs(path); err == nil && path != "-" {
		path = abs
	}
	if isFile {
		return "@" + path
	}
	return path
}
