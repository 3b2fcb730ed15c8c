package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"

	"rpcx/format"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// pluginDescribeOptions are what `plugin describe` was given.
type pluginDescribeOptions struct {
	pluginOptions
	json    bool
	catalog bool
}

func pluginDescribeCommand(a *app) *Command {
	o := &pluginDescribeOptions{}
	flags := []Flag{
		boolean("", "json", "", "print JSON on a terminal too", &o.json),
		boolean("", "as-catalog", "", "print the catalog, as rpcx describe does", &o.catalog),
	}
	return &Command{
		Name: "describe", Usage: "show what a plugin offers", ArgsUsage: "ENDPOINT",
		Description: `The library, its functions (with their source where the plugin gives it), classes,
properties and constants: tables on a terminal, JSON elsewhere.`,
		Metadata: map[string]any{examplesKey: []Example{
			{Says: "The functions of the embedded plugin", Command: "rpcx plugin describe demo:scriptling -q '.functions[].name'"},
		}},
		Flags:  append(flags, o.pluginOptions.flags(a)...),
		Action: func(ctx context.Context, _ *Command) error { return runPluginDescribe(ctx, a, o) },
	}
}

func runPluginDescribe(ctx context.Context, a *app, o *pluginDescribeOptions) error {
	e, rest, err := o.endpoint(ctx, a)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return a.line.usage("plugin describe takes an endpoint and nothing else, not %q", rest[0])
	}
	print, err := a.printer(e, &o.out, format.Options{})
	if err != nil {
		return err
	}
	c, err := fetchCatalog(ctx, a, e, &o.clientFlags, "")
	if err != nil {
		return err
	}
	if !o.json && o.out.forPeople(a) && !o.catalog {
		var b bytes.Buffer
		if err := format.Plugin(&b, c, a.out.Width, a.out.Color); err != nil {
			return err
		}
		return say(os.Stdout, b.String())
	}
	b, err := c.Marshal()
	if !o.catalog {
		b, err = pluginSchema(c)
	}
	if err != nil {
		return err
	}
	return printJSON(ctx, print, b)
}

// pluginSchema is a catalog in the words of the plugin protocol.
func pluginSchema(c *catalog.Catalog) (json.RawMessage, error) {
	type function struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Source      string `json:"source,omitempty"`
	}
	var d struct {
		Library   catalog.Info      `json:"library"`
		Functions []function        `json:"functions"`
		Classes   []json.RawMessage `json:"classes"`
		Constants json.RawMessage   `json:"constants"`
	}
	d.Library, d.Classes, d.Constants = c.Info, c.Classes, c.Constants
	d.Functions = []function{}
	if d.Classes == nil {
		d.Classes = []json.RawMessage{}
	}
	if d.Constants == nil {
		d.Constants = json.RawMessage("{}")
	}
	for _, m := range c.Methods {
		if strings.Contains(m.Name, ".") {
			continue
		}
		f := function{Name: m.Name, Description: m.Description}
		f.Source, _ = scan.Text(scan.Get(m.Extra, "source"))
		d.Functions = append(d.Functions, f)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(d)
	return bytes.TrimSpace(b.Bytes()), err
}
