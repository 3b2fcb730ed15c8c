package help

import (
	"os"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/scan"
)

// A manual is the output of `rpcx help --json`. Its flags are those of several commands.
type manual struct {
	*cmdline.Command
	Statuses []cmdline.Status `json:"statuses"`
	Topics   []Topic          `json:"topics"`
}

// printTree prints the help of all commands as JSON.
func printTree(root *cmdline.Command) error {
	m := manual{Command: root, Statuses: cmdline.ExitStatuses()}
	m.Examples = nil
	m.share()
	m.Topics = wire.Map(AllTopics(), func(t Topic) Topic {
		t.Text = ""
		return t
	})
	return printJSON(m)
}

// share moves flags that several commands have in the same form to m, and leaves their names. If a flag has several
// forms, m gets the most frequent one.
func (m *manual) share() {
	times, order := map[string]int{}, []string{}
	forms := map[string]*cmdline.Flag{}
	m.Walk(nil, func(_ []string, c *cmdline.Command) {
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
	m.Walk(nil, func(_ []string, c *cmdline.Command) {
		var own []*cmdline.Flag
		for _, f := range c.Flags {
			if shared[f.Name] == string(scan.JSON(f)) {
				c.Shared = append(c.Shared, "--"+f.Name)
			} else {
				own = append(own, f)
			}
		}
		c.Flags = own
	})
	for _, form := range order {
		if shared[forms[form].Name] == form {
			m.Flags = append(m.Flags, forms[form])
		}
	}
}

func printJSON(v any) error { return cmdline.Print(os.Stdout, string(scan.JSON(v))+"\n") }
