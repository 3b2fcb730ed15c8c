package help

import (
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/wire/dialect/all"
)

// DialectFlags returns prose about the --set values of a dialect, and about its flags that not all dialects have. It
// returns "" for other topics.
func DialectFlags(root cmdline.Doc, name string) string {
	if !slices.Contains(all.Names(), name) {
		return ""
	}
	var b strings.Builder
	settings := all.Named(name).Params.Settings
	if len(settings) > 0 {
		b.WriteString("\n# VALUES OF --set\n")
	}
	for _, s := range settings {
		says := s.Type
		if s.Handshake {
			says += ", in the handshake"
		}
		if s.Says != "" {
			says += ": " + s.Says
		}
		b.WriteString("* " + s.Name + " -- " + says + "\n")
	}
	heading := "\n# FLAGS\n"
	for _, f := range flagsOf(root, name) {
		b.WriteString(heading + "* " + strings.TrimSpace(flagForm(f)) + " -- " + f.Usage + "\n")
		heading = ""
	}
	return b.String()
}

// flagsOf returns the flags of a dialect that at most half of the dialects have, except --set.
func flagsOf(d cmdline.Doc, dialect string) (flags []cmdline.FlagDoc) {
	for _, f := range d.Flags {
		if slices.Contains(f.Dialects, dialect) && len(f.Dialects) <= len(all.Names())/2 && f.Names[0] != "set" {
			flags = append(flags, f)
		}
	}
	for _, c := range d.Commands {
		for _, f := range flagsOf(c, dialect) {
			if !slices.ContainsFunc(flags, func(known cmdline.FlagDoc) bool { return known.Names[0] == f.Names[0] }) {
				flags = append(flags, f)
			}
		}
	}
	return flags
}
