package rundir

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/scan"
	"rpcx/wire/xdg"
)

// An exitRecord stores why a session ended, if no command closed it. The session's own process had no terminal on which
// to report the reason. One file contains the latest records, and the next command that uses the session reports the
// reason. When a session of the same name is opened, its record is removed.
type exitRecord struct {
	Socket string    `json:"socket"`
	At     time.Time `json:"at"`
	Why    string    `json:"why"`
}

// These constants limit the number, the age and the size of the records.
const (
	maxExitRecords = 20
	exitRecordAge  = 24 * time.Hour
	maxExitReason  = 500
)

// readExitRecords returns the records in b that are not too old.
func readExitRecords(b []byte) (all []exitRecord) {
	_ = json.Unmarshal(b, &all) // ignores anything that is not a list
	return slices.DeleteFunc(all, func(e exitRecord) bool { return time.Since(e.At) > exitRecordAge })
}

// ForgetExit removes the record of the session at socket. It is called when the session has started again.
func ForgetExit(socket string) {
	if exitAt(socket) != nil {
		RecordExit(socket, "")
	}
}

// RecordExit replaces the record of the session at socket with a new one for the reason why. If why is "", it only
// removes the record.
func RecordExit(socket, why string) {
	file := xdg.StateFile("ended")
	if file == "" || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	_ = Locked(filepath.Dir(file), func() error {
		cache.Update(file, func(old []byte) []byte {
			all := slices.DeleteFunc(readExitRecords(old), func(e exitRecord) bool { return e.Socket == socket })
			if why != "" {
				all = append(all, exitRecord{socket, time.Now().UTC(), wire.Excerpt(why, maxExitReason)})
			}
			if len(all) == 0 {
				return nil
			}
			kept, _ := scan.Marshal(all[max(0, len(all)-maxExitRecords):])
			return append(kept, '\n')
		})
		return nil
	})
}

// killed is the reason for a session whose socket was left behind.
const killed = "its process was killed"

// Killed returns a line for each session of this user that was killed recently and has not been opened again.
func Killed() (lines []string) {
	dir, err := Existing()
	if err != nil || dir == "" {
		return nil
	}
	for _, e := range readExitRecords(cache.Read(xdg.StateFile("ended"))) {
		name, ok := strings.CutPrefix(filepath.Base(e.Socket), PrefixSession)
		if ok && e.Why == killed && filepath.Dir(e.Socket) == dir {
			lines = append(lines, fmt.Sprintf("session %s ended %v ago: %s", name, age(e), e.Why))
		}
	}
	return lines
}

func age(e exitRecord) time.Duration { return max(time.Since(e.At), 0).Truncate(time.Second) }

// exitAt returns the record of the last session at socket, or nil if there is none.
func exitAt(socket string) *exitRecord {
	return wire.Find(readExitRecords(cache.Read(xdg.StateFile("ended"))), func(e *exitRecord) bool { return e.Socket == socket })
}

// ExitFault returns a Fault with the reason why the session name ended, or nil if the reason is not known.
func ExitFault(name string, cause error) *wire.Fault {
	dir, err := runtimePlace()
	if err != nil {
		return nil
	}
	e := exitAt(socketOf(dir, name))
	if e == nil {
		return nil
	}
	f := Absent(fmt.Sprintf("session %s ended %v ago: %s", name, age(*e), e.Why), cause)
	f.Hint = "rpcx connect ENDPOINT --session " + name + " opens it again"
	return f
}
