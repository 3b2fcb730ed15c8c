package options

import (
	"rpcx/commands/cmdline"
	"rpcx/wire/catalog"
)

// Params are the flags for reading parameters.
type Params struct {
	Catalog string
	NoCheck bool
	DryRun  bool
	Style   string
}

// LoadCatalog reads the file of --catalog, without the run members of its hooks; nil if file is
// "".
func LoadCatalog(file string) (*catalog.Catalog, error) {
	if file == "" {
		return nil, nil
	}
	c, err := catalog.Load(file)
	if err == nil {
		catalog.StripRun(c)
	}
	return c, err
}

// Flags makes the flags, which store into p.
func (p *Params) Flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.Text(cmdline.GroupParams, "catalog", "", "convert and check parameters with the catalog in `FILE`", &p.Catalog),
		cmdline.Bool(cmdline.GroupParams, "no-check", "", "send parameters that the catalog refuses, as strings", &p.NoCheck),
		cmdline.Bool(cmdline.GroupParams, "dry-run", "", "print the message, send nothing", &p.DryRun),
		cmdline.Enum(cmdline.GroupParams, "params-style", "`wrapped|object|positional`: send an object of params in an array, as it is, or as an array of its values (introspect: wrapped; jsonrpc, jsonrpc1: object)", &p.Style, []string{"wrapped", "object", "positional"}),
	}
}
