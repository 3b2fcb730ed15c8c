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

// An Answer is a response stored on disk.
type Answer struct {
	Raw    json.RawMessage // the message, unchanged
	At     time.Time       // the time of arrival
	MaxAge time.Duration   // how long the response may be used after At
}

// Age returns the time since the answer arrived.
func (a *Answer) Age() time.Duration { return time.Since(a.At) }

// Message returns the answer as a response message.
func (a *Answer) Message() wire.Message {
	return wire.Message{Kind: wire.Response, Final: true, Raw: a.Raw, Body: scan.Get(a.Raw, "result")}
}

// A Source identifies the answers that a connection may use: those of one peer to one user. With the zero Source, no
// answers are stored.
type Source struct {
	Of      string `json:"of,omitempty"`      // a hash of the peer and the user
	Private bool   `json:"private,omitempty"` // the peer can identify the user, so answers may be for that user only
}

// SourceOf returns the source of answers from e. asker is the identity that rpcx presents to e, or "". trust is the
// reason why rpcx trusts the connection. SourceOf returns the zero Source if e does not identify a peer, or if another
// process owns the connection.
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

// Key returns the key under which the answer to a request is stored.
func (s Source) Key(asked json.RawMessage) string { return digest(s.Of, string(asked)) }

func answerFile(key string) (string, error) {
	d, err := dir()
	return filepath.Join(d, "answers", key+".json"), err
}

// Get returns the answer stored under key, or nil. It ignores expired answers.
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

// Put stores an answer under a key and removes expired answers.
func Put(key string, a Answer) error {
	path, err := answerFile(key)
	if err != nil {
		return err
	}
	dropOld(filepath.Dir(path))
	line := fmt.Appendf(nil, `{"at":%d,"max_age":%g,"msg":`, a.At.UnixMilli(), a.MaxAge.Seconds())
	// the modification time of the file is its expiry
	return Write(path, append(scan.Compact(line, a.Raw), "}\n"...), a.At.Add(a.MaxAge))
}

// dropOld removes the expired answers in a directory.
func dropOld(folder string) {
	files, _ := os.ReadDir(folder)
	for _, f := range files {
		info, err := f.Info()
		if err == nil && info.ModTime().Before(time.Now()) && !strings.HasPrefix(f.Name(), newPrefix) {
			_ = os.Remove(filepath.Join(folder, f.Name()))
		}
	}
}
