package help

import (
	"os"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/scan"
)

// treeDoc is the output of `rpcx help --json`.
type treeDoc struct {
	Name     string       `json:"name"`
	Usage    string       `json:"usage"`
	Text     string       `json:"description"`
	Flags    []flagDoc    `json:"flags"` // the flags of several commands
	Commands []commandDoc `json:"commands"`
	Statuses []statusDoc  `json:"statuses"`
	Topics   []topicDoc   `json:"topics"`
}

type commandDoc struct {
	Name     string       `json:"name"`
	Usage    string       `json:"usage"`
	Args     string       `json:"args,omitempty"`
	Text     string       `json:"description,omitempty"`
	Flags    []flagDoc    `json:"flags,omitempty"`
	Shared   []string     `json:"shared,omitempty"` // the names of these flags
	Commands []commandDoc `json:"commands,omitempty"`
	Examples []exampleDoc `json:"examples,omitempty"`
}

type flagDoc struct {
	Name     string   `json:"name"`            // --name
	Short    string   `json:"short,omitempty"` // -n
	Type     string   `json:"type"`            // bool, string, integer, duration, size, file, folder, jq, json, enum
	Arg      string   `json:"arg,omitempty"`   // the placeholder of the value
	Values   []string `json:"values,omitempty"`
	Usage    string   `json:"usage"`
	Group    string   `json:"group,omitempty"`
	Repeated bool     `json:"repeated,omitempty"`
	Needs    string   `json:"needs,omitempty"` // the requirement on the endpoint
	With     string   `json:"with,omitempty"`  // the flags, one of which is required
}

type exampleDoc struct {
	Says    string `json:"says"`
	Command string `json:"command"`
}

type statusDoc struct {
	Status  int    `json:"status"`
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

type topicDoc struct {
	Name string `json:"name"`
	Says string `json:"says"`
	Text string `json:"text,omitempty"`
}

// argTypes maps the placeholders of values to types. Other values are strings.
var argTypes = map[string]string{
	"N": "integer", "DURATION": "duration", "SIZE": "size", "FILE": "file", "DIR": "folder", "FILE|DIR": "file", "EXPR": "jq", "JQ": "jq", "JSON": "json",
}

func treeJSON(root cmdline.Doc) treeDoc {
	t := treeDoc{Name: root.Name, Usage: root.Usage, Text: root.Description}
	t.Commands = wire.Map(root.Commands, commandJSON)
	t.share()
	t.Statuses = wire.Map(cmdline.ExitStatuses(), func(s cmdline.StatusDoc) statusDoc { return statusDoc{s.Code, s.Name, s.Meaning} })
	t.Topics = wire.Map(AllTopics(), func(topic Topic) topicDoc { return topicJSON(topic, false) })
	return t
}

// share moves flags that several commands have in the same form to t, and leaves their names. If a flag has several
// forms, t gets the most frequent one.
func (t *treeDoc) share() {
	times, order := map[string]int{}, []string{}
	forms := map[string]flagDoc{}
	each(t.Commands, func(c *commandDoc) {
		for _, f := range c.Flags {
			form := string(scan.JSON(f))
			if times[form]++; times[form] == 1 {
				forms[form], order = f, append(order, form)
			}
		}
	})
	shared := map[string]string{} // by name
	for _, form := range order {
		if name := forms[form].Name; times[form] > max(1, times[shared[name]]) {
			shared[name] = form
		}
	}
	for _, form := range order {
		if shared[forms[form].Name] == form {
			t.Flags = append(t.Flags, forms[form])
		}
	}
	each(t.Commands, func(c *commandDoc) {
		var own []flagDoc
		for _, f := range c.Flags {
			if shared[f.Name] == string(scan.JSON(f)) {
				c.Shared = append(c.Shared, f.Name)
			} else {
				own = append(own, f)
			}
		}
		c.Flags = own
	})
}

func each(commands []commandDoc, do func(c *commandDoc)) {
	for i := range commands {
		do(&commands[i])
		each(commands[i].Commands, do)
	}
}

func commandJSON(d cmdline.Doc) commandDoc {
	c := commandDoc{Name: d.Name, Usage: d.Usage, Args: d.Args, Text: d.Description}
	c.Flags = wire.Map(d.Flags, flagJSON)
	c.Commands = wire.Map(d.Commands, commandJSON)
	c.Examples = wire.Map(d.Examples, func(e cmdline.Example) exampleDoc { return exampleDoc(e) })
	return c
}

func flagJSON(f cmdline.FlagDoc) flagDoc {
	d := flagDoc{Name: "--" + f.Names[0], Arg: f.Arg, Usage: f.Usage, Group: f.Group, Repeated: f.Repeated, Needs: f.Needs, With: f.With, Type: "string"}
	if len(f.Names) > 1 {
		d.Short = "-" + f.Names[1]
	}
	switch known := argTypes[f.Arg]; {
	case f.Arg == "":
		d.Type = "bool"
	case known != "":
		d.Type = known
	case f.Choices() != nil:
		d.Type, d.Values = "enum", f.Choices()
	}
	return d
}

func topicJSON(t Topic, whole bool) topicDoc {
	d := topicDoc{Name: t.Name, Says: t.Says}
	if whole {
		d.Text = t.Text
	}
	return d
}

func printJSON(v any) error {
	b, err := scan.Marshal(v)
	if err != nil {
		return err
	}
	return cmdline.Print(os.Stdout, string(b)+"\n")
}
