package artifacts

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rpcx/wire"
)

// open opens an artifact by its path, or else by its URI.
func (s *Saver) open(ctx context.Context, r ref) (io.ReadCloser, error) {
	if r.path != "" {
		return s.local(r.path)
	}
	u, err := url.Parse(r.uri)
	if err != nil {
		return nil, refused("its uri is not valid")
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" {
			return nil, refused("its file is on another machine")
		}
		return s.local(filepath.FromSlash(u.Path))
	case "http", "https":
		return s.remote(ctx, u)
	}
	return nil, refused("its uri does not begin with file://, http:// or https://")
}

// local opens a file below the root.
func (s *Saver) local(path string) (io.ReadCloser, error) {
	if s.Root == "" {
		return nil, refused("it is a local file").WithHint("allow a directory with --artifact-root DIR")
	}
	root, err := filepath.Abs(s.Root)
	if err != nil {
		return nil, wire.NewFault(wire.Usage, "--artifact-root: "+err.Error(), err)
	}
	in, err := below(root, path)
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, wire.NewFault(wire.Usage, "--artifact-root: "+err.Error(), err)
	}
	defer dir.Close()
	info, err := dir.Stat(in)
	switch {
	case err != nil:
		return nil, wire.NewFault(wire.Expectation, "it cannot be read: "+cause(err), err)
	case !info.Mode().IsRegular():
		return nil, unfit("it is not a regular file")
	}
	f, err := dir.Open(in)
	if err != nil {
		return nil, wire.NewFault(wire.Expectation, "it cannot be read: "+cause(err), err)
	}
	return f, nil
}

// below returns path relative to root, or a usage Fault if path is not below root.
func below(root, path string) (string, error) {
	roots := []string{root}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		roots = append(roots, real)
	}
	for _, r := range roots {
		in, err := filepath.Rel(r, path)
		if err == nil && filepath.IsAbs(path) && filepath.IsLocal(in) && in != "." {
			return in, nil
		}
	}
	return "", refused("its file is outside --artifact-root")
}

// cause returns the text of an error without the peer's file name.
func cause(err error) string {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// remote fetches a file from one of Hosts. It sends no credentials and follows no redirects. It fails if the host sends
// no data for Idle.
func (s *Saver) remote(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	if !s.allowed(u) {
		return nil, refused("it is on " + u.Host + ", which is not the endpoint's host and port").
			WithHint("allow it with --artifact-host HOST[:PORT]")
	}
	u.User = nil
	b := &body{idle: cmp.Or(s.Idle, DefaultIdle)}
	ctx, b.cancel = context.WithCancelCause(ctx)
	b.timer = time.AfterFunc(b.idle, func() {
		b.cancel(wire.NewFault(wire.Timeout, "the host sent no data for "+b.idle.String(), nil))
	})
	if err := b.get(ctx, u); err != nil {
		_ = b.Close()
		return nil, err
	}
	return b, nil
}

// A body is a file that is being fetched. Read fails if the host sends no data for idle.
type body struct {
	io.ReadCloser // nil before the response
	idle          time.Duration
	timer         *time.Timer
	cancel        context.CancelCauseFunc
}

func (b *body) get(ctx context.Context, u *url.URL) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return refused("its uri is not valid")
	}
	t := &http.Transport{DisableKeepAlives: true, DisableCompression: true} // uses no proxy
	c := &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(req)
	switch {
	case wire.AsFault(err) != nil:
		return wire.AsFault(err)
	case err != nil:
		return wire.NewFault(wire.Unreachable, "cannot fetch it: "+err.Error(), err)
	}
	b.ReadCloser = resp.Body
	if resp.StatusCode != http.StatusOK {
		return unfit("cannot fetch it: the host returned " + resp.Status)
	}
	return nil
}

// Read returns a Fault of kind Closed if the connection breaks.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.timer.Reset(b.idle)
	if err != nil && err != io.EOF && wire.AsFault(err) == nil {
		err = wire.NewFault(wire.Closed, "the transfer was interrupted: "+err.Error(), err)
	}
	return n, err
}

// Close stops fetching.
func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	if b.ReadCloser == nil {
		return nil
	}
	return b.ReadCloser.Close()
}

// allowed reports whether the host of u is one of Hosts.
func (s *Saver) allowed(u *url.URL) bool {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	for _, h := range s.Hosts {
		host, at, err := net.SplitHostPort(h)
		if err != nil {
			host, at = strings.Trim(h, "[]"), port
		}
		if strings.EqualFold(host, u.Hostname()) && at == port {
			return true
		}
	}
	return false
}
