package cache

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// An Answer is a response that is kept on disk.
type Answer struct {
	Raw    json.RawMessage // the message, as it came
	At     time.Time       // when it came
	MaxAge time.Duration   // how long after At it may be used
}

// Age returns the time since the answer came.
func (a *Answer) Age() time.Duration { return time.Since(a.At) }

// Message returns the answer as it came.
func (a *Answer) Message() wire.Message {
	return wire.Message{Kind: wire.Response, Final: true, Raw: a.Raw, Body: scan.Get(a.Raw, "result")}
}

// A Source says whose answers a conversation gets: those of one peer, to one who
// asks. The zero value says nothing, and its answers are not to be kept.
type Source struct {
	Of      string `json:"of,omitempty"`      // tells the source from all others
	Private bool   `json:"private,omitempty"` // the peer is told who asks
}

// SourceOf returns the source of answers of e, asked with that identity ("" for
// none) over a connection that is trusted for that reason. It is zero for an
// endpoint that does not say which peer it leads to, and for one that another
// process holds.
func SourceOf(e endpoint.Endpoint, asker, trust string) Source {
	if e.Socket != "" || e.Address.Scheme == "stdio" || e.Address.Scheme == "ipc" && len(e.Address.Command) == 0 {
		return Source{}
	}
	id, err := identity(e)
	if err != nil {
		return Source{}
	}
	return Source{Of: digest(append(id, environment(e), asker, trust)...), Private: asker != ""}
}

// Key returns the key of the answer to what was asked.
func (s Source) Key(asked json.RawMessage) string { return digest(s.Of, string(asked)) }

// answerFile returns where the answer of a key is kept.
func answerFile(key string) (string, error) {
	d, err := dir()
	return filepath.Join(d, "answers", key+".json"), err
}

// Get returns the answer of a key; nil where there is none, or it is too old.
func Get(key string) *Answer {
	path, err := answerFile(key)
	if err != nil {
		return nil
	}
	var c struct {
		At     int64           `json:"at"`
		MaxAge float64         `json:"max_age"`
		Msg    json.RawMessage `json:"msg"`
	}
	if json.Unmarshal(Read(path), &c) != nil || scan.Type(c.Msg) != 'o' {
		return nil
	}
	got := &Answer{Raw: c.Msg, At: time.UnixMilli(c.At), MaxAge: time.Duration(c.MaxAge * float64(time.Second))}
	if age := got.Age(); age < 0 || age >= got.MaxAge {
		return nil
	}
	return got
}

// Put keeps an answer under a key, and drops those that have become too old.
func Put(key string, a Answer) error {
	path, err := answerFile(key)
	if err != nil {
		return err
	}
	dropOld(filepath.Dir(path))
	line := fmt.Appendf(nil, `{"at":%d,"max_age":%g,"msg":`, a.At.UnixMilli(), a.MaxAge.Seconds())
	// the time of the file is when it is of no more use
	return Write(path, append(scan.Compact(line, a.Raw), "}\n"...), a.At.Add(a.MaxAge))
}

// dropOld removes the answers in folder that are too old.
func dropOld(folder string) {
	files, _ := os.ReadDir(folder)
	for _, f := range files {
		info, err := f.Info()
		if err == nil && info.ModTime().Before(time.Now()) && !strings.HasPrefix(f.Name(), newPrefix) {
			_ = os.Remove(filepath.Join(folder, f.Name()))
		}
	}
}
