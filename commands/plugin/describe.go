package plugin

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// describeOptions are the flags of rpcx plugin describe.
type describeOptions struct {
	flags
	json    bool
	catalog bool
}

func describeCommand(run *env.Env) *cmdline.Command {
	o := &describeOptions{}
	flags := []*cmdline.Flag{
		cmdline.Bool("", "json", "", "print JSON, even on a terminal", &o.json),
		cmdline.Bool("", "as-catalog", "", "print a catalog in the format of rpcx describe", &o.catalog),
	}
	return &cmdline.Command{
		Name: "describe", Usage: "print a plugin's functions, classes and constants", Args: "ENDPOINT",
		Description: `Prints the library's name, functions (with source, if available), classes,
properties and constants as JSON (on a terminal, as tables).`,
		Examples: []cmdline.Example{
			{Says: "Print the functions of the embedded plugin", Command: "rpcx plugin describe demo:scriptling -q '.functions[].name'"},
			{Says: "Write a catalog for rpcx serve and rpcx plugin serve", Command: "rpcx plugin describe demo:scriptling --as-catalog > plugin.json"},
		},
		Flags:  append(flags, options.WithoutErrors(o.flags.all(run))...),
		Action: func(ctx context.Context) error { return runDescribe(ctx, run, o) },
	}
}

func runDescribe(ctx context.Context, run *env.Env, o *describeOptions) error {
	e, rest, err := o.endpoint(ctx, run)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return run.Line.Usage("plugin describe takes only an endpoint, not %q", rest[0])
	}
	print, err := options.NewPrinter(run, e, &o.Out)
	if err != nil {
		return err
	}
	c, err := request.FetchCatalog(ctx, run, e, &o.Client, "", false)
	if err != nil {
		return err
	}
	if !o.json && o.Out.ForPeople(run) && !o.catalog {
		return cmdline.Print(os.Stdout, format.Plugin(c, run.Stdout.Width, run.Stdout.Color))
	}
	b, err := c.Marshal()
	if !o.catalog {
		b, err = schemaOf(c)
	}
	if err != nil {
		return err
	}
	return request.PrintJSON(ctx, print, b)
}

// schemaOf returns a catalog in the form that the plugin protocol defines.
func schemaOf(c *catalog.Catalog) (json.RawMessage, error) {
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
	d.Library, d.Functions, d.Constants = c.Info, []function{}, scan.Or(c.Constants, json.RawMessage("{}"))
	d.Classes = append([]json.RawMessage{}, c.Classes...)
	for _, m := range c.Methods {
		if strings.Contains(m.Name, ".") {
			continue
		}
		d.Functions = append(d.Functions, function{m.Name, m.Description, scan.String(scan.Get(m.Extra, "source"))})
	}
	return scan.Marshal(d)
}
