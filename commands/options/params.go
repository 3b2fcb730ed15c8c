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

// LoadCatalog reads the file of --catalog without run members. It returns nil for "".
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

// Flags returns the flags of p.
func (p *Params) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Text(cmdline.GroupParams, "catalog", "", "convert and check parameters with the catalog in `FILE`", &p.Catalog).Filled("a file"),
		cmdline.Bool(cmdline.GroupParams, "no-check", "", "send parameters even if they do not match their schema", &p.NoCheck),
		cmdline.Bool(cmdline.GroupParams, "dry-run", "", "print the message without sending it", &p.DryRun),
		cmdline.Enum(cmdline.GroupParams, "params-style", "`wrapped|object|positional`: send an object as the only element of an array (wrapped, the default for introspect), unchanged (object, the default for jsonrpc and jsonrpc1), or as an array of its values (positional)", &p.Style, []string{"wrapped", "object", "positional"}),
	}
}
