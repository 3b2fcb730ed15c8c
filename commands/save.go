package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"

	"rpcx/commands/artifacts"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

const groupFiles = "Artifacts"

// saveFlags say what becomes of the files that a job has made.
type saveFlags struct {
	dir   string
	root  string
	hosts []string
	most  size
}

func (s *saveFlags) flags() []Flag {
	return []Flag{
		text(groupFiles, "save", "", "save the artifacts of the result below `DIR`, each checked against its sha256 and size", &s.dir),
		text(groupFiles, "artifact-root", "", "artifacts that are files of this machine may be read below `DIR`", &s.root),
		list(groupFiles, "artifact-host", "", "artifacts may be fetched from `HOST[:PORT]`, beside the endpoint's own", &s.hosts),
		generic(groupFiles, "max-artifact", "an artifact has at most `SIZE` bytes (1G)", &s.most),
	}
}

// save saves the artifacts that a job's last words tell of, where that is wanted.
func (s *saveFlags) save(ctx context.Context, a *app, e session.Endpoint, last json.RawMessage) error {
	announced := scan.Get(last, "artifacts")
	if s.dir == "" || announced == nil {
		return nil
	}
	saver := &artifacts.Saver{
		Dir: s.dir, Root: s.root, MaxSize: int64(s.most), Hosts: s.hosts,
		Saved: func(path string, n int64) { a.console.Note(fmt.Sprintf("saved %s (%d bytes)", path, n)) },
	}
	if at := e.Far().Address; at.Host != "" {
		saver.Hosts = append(saver.Hosts, withPort(at.Scheme, at.Host))
	}
	return cause(ctx, saver.Save(ctx, announced))
}

// withPort is an endpoint's host with its port.
func withPort(scheme, host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	port := "80"
	if scheme == "wss" || scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// journalFlags say which entries of a journal are listed.
type journalFlags struct {
	kind  string
	limit int64
}

func (j *journalFlags) flags() []Flag {
	j.limit = -1
	return []Flag{
		newEnum("", "kind", "`eval|command`: only these (hotrepl)", &j.kind, []string{"eval", "command"}),
		number("", "limit", "at most `N` entries, the newest (hotrepl)", 0, &j.limit),
	}
}

func (j *journalFlags) extra() json.RawMessage {
	var members []string
	if j.kind != "" {
		members = append(members, `"kind":"`+j.kind+`"`)
	}
	if j.limit >= 0 {
		members = append(members, fmt.Sprintf(`"limit":%d`, j.limit))
	}
	if members == nil {
		return nil
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}
