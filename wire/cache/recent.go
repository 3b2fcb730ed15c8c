package cache

import (
	"os"
	"slices"
	"strings"
	"time"

	"rpcx/wire/xdg"
)

// HistoryVariable is the environment variable whose value "off" disables the history of endpoints.
const HistoryVariable = "RPCX_HISTORY"

// maxRecent is the maximum number of stored endpoints.
const maxRecent = 50

// Remember stores an endpoint for completion, as the user typed it. The caller must not pass endpoints with secrets.
func Remember(typed string) {
	file := xdg.StateFile("endpoints")
	if file == "" || os.Getenv(HistoryVariable) == "off" || strings.ContainsAny(typed, "\n\t") {
		return
	}
	all := Recent()
	if len(all) > 0 && all[0] == typed { // the usual case
		return
	}
	all = append([]string{typed}, slices.DeleteFunc(all, func(s string) bool { return s == typed })...)
	_ = Write(file, []byte(strings.Join(all[:min(len(all), maxRecent)], "\n")+"\n"), time.Time{})
}

// Recent returns the stored endpoints, latest first.
func Recent() []string {
	file := xdg.StateFile("endpoints")
	if file == "" {
		return nil
	}
	return strings.FieldsFunc(string(Read(file)), func(r rune) bool { return r == '\n' })
}
