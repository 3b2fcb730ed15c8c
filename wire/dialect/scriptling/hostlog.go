package scriptling

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// logEvent returns the event for a host.log. Extra contains the remaining arguments, by name if they are keys and
// values.
func logEvent(params []byte) wire.Event {
	ev := wire.Event{Kind: wire.Log, Level: logLevel(scan.String(scan.Get(params, "level"))), Message: scan.String(scan.Get(params, "message"))}
	args, err := plainItems(nil, scan.Get(params, "args"))
	if err != nil {
		ev.Extra = scan.Pair("args", scan.Compact(nil, scan.Get(params, "args")))
		return ev
	}
	if pairs, ok := named(args); ok {
		ev.Extra = pairs
	} else if string(args) != "[]" {
		ev.Extra = scan.Pair("args", args)
	}
	return ev
}

// logLevel returns rpcx's name for a log level. "warning" becomes warn, and an unknown level becomes info.
func logLevel(given string) string {
	level := strings.ToLower(given)
	if level == "warning" {
		return "warn"
	}
	if slices.Contains(Levels, level) {
		return level
	}
	return "info"
}

// Levels are the levels of host.log, lowest first.
var Levels = []string{"trace", "debug", "info", "warn", "error", "fatal"}

// named turns an array of alternating keys and values into an object. ok is false for other arrays and for repeated
// keys.
func named(args []byte) (obj json.RawMessage, ok bool) {
	var o scan.Object
	list := scan.List(args)
	if len(list)%2 != 0 {
		return nil, false
	}
	seen := map[string]bool{}
	for pair := range slices.Chunk(list, 2) {
		name, isText := scan.Text(pair[0])
		if !isText || seen[name] {
			return nil, false
		}
		seen[name] = true
		o.Add(name, pair[1])
	}
	return o.End(), len(seen) > 0
}

// checkLog returns an error if the params of a host.log are invalid.
func checkLog(params []byte) error {
	if scan.Type(params) != 'o' {
		return errors.New("host.log needs params")
	}
	if level := scan.Get(params, "level"); level != nil && scan.Type(level) != 's' {
		return errors.New("the level of a host.log is " + strconv.Quote(excerpt(level)))
	}
	return nil
}
