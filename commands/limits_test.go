package commands

import (
	"slices"
	"testing"

	"rpcx/commands/cmdline"
)

// TestLimits: each flag that the table of limits names is a flag of some command.
func TestLimits(t *testing.T) {
	var flags []string
	var collect func(d cmdline.Doc)
	collect = func(d cmdline.Doc) {
		for _, f := range d.Flags {
			flags = append(flags, f.Names[0])
		}
		for _, c := range d.Commands {
			collect(c)
		}
	}
	collect(Tree())
	for _, l := range cmdline.Limits() {
		if l.Flag != "" && !slices.Contains(flags, l.Flag) {
			t.Errorf("%s: there is no flag --%s", l.What, l.Flag)
		}
		if l.What == "" || l.Bound == "" || l.Then == "" {
			t.Errorf("%+v says too little", l)
		}
	}
}
