package options

import (
	"rpcx/commands/cmdline"
	"rpcx/wire/catalog"
)

// Params are the flags that say how parameters are read.
type Params struct {
	Catalog string
	NoCheck bool
	DryRun  bool
	Style   string
}

// LoadCatalog reads the file of --catalog, without its commands for hooks; nil if
// file is "".
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
		cmdline.Text(cmdline.GroupParams, "catalog", "", "type and check parameters by the catalog in `FILE`", &p.Catalog),
		cmdline.Bool(cmdline.GroupParams, "no-check", "", "send parameters as strings even if the catalog refuses them", &p.NoCheck),
		cmdline.Bool(cmdline.GroupParams, "dry-run", "", "print the message that would be sent, without sending it", &p.DryRun),
		cmdline.Enum(cmdline.GroupParams, "params-style", "`wrapped|object|positional`: send an object of params as the only element of an array (default in introspect), as it is (default in jsonrpc and jsonrpc1), or as an array of its values", &p.Style, []string{"wrapped", "object", "positional"}),
	}
}
