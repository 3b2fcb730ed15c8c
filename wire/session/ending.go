package session

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/profile"
)

// An ending is how a session ended that nobody closed. The last few are kept in
// one file, so that the next command can say why: the session's process has nobody
// to tell it. What a session of that name left before is forgotten when it lives
// again.
type ending struct {
	Socket string    `json:"socket"`
	At     time.Time `json:"at"`
	Why    string    `json:"why"`
}

// How many endings are kept, for how long, and how many bytes of each.
const (
	endingsMost = 20
	endingLasts = 24 * time.Hour
	endingWidth = 500
)

// endings are those in b that may still be of interest.
func endings(b json.RawMessage) (all []ending) {
	_ = json.Unmarshal(b, &all) // what is no list is none
	return slices.DeleteFunc(all, func(e ending) bool { return time.Since(e.At) > endingLasts })
}

// rememberEnding notes why the session at socket ended.
func rememberEnding(socket, why string) {
	if len(why) > endingWidth {
		why = strings.ToValidUTF8(why[:endingWidth], "") + "…"
	}
	noteEnding(socket, why)
}

// forgetEnding is that there is a session at socket again.
func forgetEnding(socket string) {
	if endingAt(socket) != nil {
		noteEnding(socket, "")
	}
}

// noteEnding puts why in the place of what is kept of socket; "" is nothing.
func noteEnding(socket, why string) {
	file := StateFile("ended")
	if file == "" || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	_ = locked(filepath.Dir(file), func() error {
		updateKept(file, func(old json.RawMessage) json.RawMessage {
			all := slices.DeleteFunc(endings(old), func(e ending) bool { return e.Socket == socket })
			if why != "" {
				all = append(all, ending{socket, time.Now().UTC(), why})
			}
			if len(all) == 0 {
				return nil
			}
			return append(marshal(all[max(0, len(all)-endingsMost):]), '\n')
		})
		return nil
	})
}

// endingAt is how the last session at socket ended; nil: nothing is known.
func endingAt(socket string) *ending {
	file := StateFile("ended")
	if file == "" {
		return nil
	}
	all := endings(readKept(file))
	if i := slices.IndexFunc(all, func(e ending) bool { return e.Socket == socket }); i >= 0 {
		return &all[i]
	}
	return nil
}

// endedAs says how the session that was called name ended; nil: nothing is known.
func endedAs(name string, cause error) *wire.Fault {
	dir, err := runtimePlace()
	if err != nil {
		return nil
	}
	e := endingAt(socketOf(dir, name))
	if e == nil {
		return nil
	}
	ago := max(time.Since(e.At), 0).Truncate(time.Second)
	f := absent(fmt.Sprintf("session %s ended %v ago: %s", name, ago, e.Why), cause)
	f.Hint = "rpcx connect ENDPOINT --session " + name + " opens it again"
	return f
}

// StateFile is where XDG has what the program keeps of what was; "" where nothing
// says so.
func StateFile(name string) string {
	dir := profile.XDG("XDG_STATE_HOME", ".local", "state")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}
