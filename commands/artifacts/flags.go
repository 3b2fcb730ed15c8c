package artifacts

import (
	"context"
	"encoding/json"
	"net"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

const groupFiles = "Artifacts"

// Flags are the flags for the files of a job.
type Flags struct {
	Dir     string
	root    string
	hosts   []string
	maxSize cmdline.Size
}

// Flags returns the flags of s.
func (s *Flags) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Text(groupFiles, "save", "", "save the result's artifacts under `DIR`, after checking their size and sha256", &s.Dir).Filled("a directory"),
		cmdline.Text(groupFiles, "artifact-root", "", "accept artifacts that are local files under `DIR`", &s.root),
		cmdline.List(groupFiles, "artifact-host", "", "also download artifacts from `HOST[:PORT]`", &s.hosts),
		cmdline.Generic(groupFiles, "max-artifact", "refuse files larger than `SIZE` (1G)", &s.maxSize),
	}
}

// Check returns an error, before a job runs, if rpcx could not save the job's files. A local host names its artifacts
// by path, and rpcx reads files only below the user's directory.
func (s *Flags) Check(run *env.Env, e endpoint.Endpoint) error {
	if s.Dir == "" || s.root != "" || len(s.hosts) > 0 || !e.Spec().Files.AreLocal() || !local(peerOf(run, e).Address.Host) {
		return nil
	}
	return run.Line.Usage("--save: the artifacts are local files; rpcx needs permission to read their directory").
		WithHint("allow their directory with --artifact-root DIR, or the host that serves them with --artifact-host HOST[:PORT]")
}

// peerOf returns the endpoint of the peer, also for a session.
func peerOf(run *env.Env, e endpoint.Endpoint) endpoint.Endpoint {
	if run.Reached != nil {
		return run.Reached.RemoteEndpoint()
	}
	return e
}

// local reports whether host is this machine: it is empty or a loopback address.
func local(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "" || host == "localhost" || ip != nil && ip.IsLoopback()
}

// Save saves the artifacts of last, a job's result, if --save is given. Otherwise it prints a note about them.
func (s *Flags) Save(ctx context.Context, run *env.Env, e endpoint.Endpoint, last json.RawMessage) error {
	announced := scan.Get(last, "artifacts")
	if s.Dir != "" && announced != nil && scan.Type(announced) != 'o' {
		return wire.NewFault(wire.Protocol, "the result's artifacts are not an object, and cannot be saved", nil)
	}
	if !s.wanted(run, len(read(announced)), "the result has no artifacts to save") {
		return nil
	}
	saver := s.saver(run)
	if at := peerOf(run, e).Address; at.Host != "" {
		saver.Hosts = append(saver.Hosts, withPort(at.Scheme, at.Host))
	}
	return env.Cause(ctx, saver.Save(ctx, announced))
}

// withPort returns host with a port: its own, or else the default port of the scheme.
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
