package help

import (
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/wire/dialect/all"
)

// dialectFlags returns the part of a dialect's topic that lists the flags and the values of --set that it has and most
// others do not; "" for another topic.
func dialectFlags(root cmdline.Doc, name string) string {
	if !slices.Contains(all.Names(), name) {
		return ""
	}
	var b strings.Builder
	settings := all.Named(name).Params.Settings
	if len(settings) > 0 {
		b.WriteString("\nVALUES (--set NAME=TEXT, --set NAME:=JSON)\n")
	}
	for _, s := range settings {
		says := s.Type
		if s.Says != "" {
			says += ": " + s.Says
		}
		if s.Handshake {
			says += ", in the handshake"
		}
		row(&b, "  "+s.Name, says, 24)
	}
	heading := "\nFLAGS\n"
	for _, f := range flagsOf(root, name) {
		b.WriteString(heading)
		heading = ""
		row(&b, "  "+strings.TrimSpace(flagForm(f)), f.Usage, 24)
	}
	return b.String()
}

// flagsOf returns the flags that some commands have in the dialect and not in all dialects, but for --set.
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
