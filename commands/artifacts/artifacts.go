// Package artifacts fetches the files that a peer announces with a job's result, checks them, and saves them in the
// user's directory. The user, never the peer, chooses where to save files, and which directory or host to read.
package artifacts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/scan"
)

const (
	DefaultMaxSize = 1 << 30     // the default limit of an artifact's size in bytes
	DefaultIdle    = time.Minute // the default limit of the time in which a host sends no data
)

// A Saver saves artifacts.
type Saver struct {
	Dir     string                        // the directory for saved files, which is created if missing
	Root    string                        // the directory that contains local files, or ""
	Hosts   []string                      // allowed HOST or HOST:PORT for fetching
	MaxSize int64                         // the maximum size in bytes (DefaultMaxSize by default)
	Idle    time.Duration                 // how long a host may send no data (DefaultIdle by default)
	Saved   func(path string, size int64) // receives each saved file; may be nil
}

// A ref is an artifact in an announcement.
type ref struct {
	name, uri, path, sum string
	size                 int64 // -1 without an announced size
	finalized            bool
}

// Save saves all artifacts in announced, the "artifacts" object of a result. A location that the user has not allowed is a
// usage Fault. An invalid file name, or an artifact that differs from the announcement, is a Fault of kind Expectation. An
// existing file is a Fault of kind Conflict. After an error, Save saves the other artifacts.
func (s *Saver) Save(ctx context.Context, announced json.RawMessage) error {
	return saveEach(s, read(announced), func(dir *os.Root, _ int, r ref) (string, error) { return r.name, s.save(ctx, dir, r) })
}

// saveEach calls save with the directory for saved files, which it creates, and with each of files. save returns the name for
// errors. After an error, saveEach saves the other files.
func saveEach[F any](s *Saver, files []F, save func(dir *os.Root, i int, f F) (name string, err error)) error {
	if len(files) == 0 {
		return nil
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return wire.NewFault(wire.IO, "--save: "+err.Error(), err)
	}
	dir, err := os.OpenRoot(s.Dir)
	if err != nil {
		return wire.NewFault(wire.IO, "--save: "+err.Error(), err)
	}
	defer dir.Close()
	var all []error
	for i, f := range files {
		if name, err := save(dir, i, f); err != nil {
			all = append(all, about(name, err))
		}
	}
	return errors.Join(all...)
}

// maxSize returns the maximum file size in bytes.
func (s *Saver) maxSize() int64 { return cmp.Or(s.MaxSize, DefaultMaxSize) }

// isFileName reports whether rpcx accepts a file name from a peer: the file is not hidden, and the name does not look
// like a flag and contains no characters that a terminal interprets.
func isFileName(name string) bool {
	const longest = 200
	return name != "" && !strings.ContainsAny(name, `/\`) && format.Safe(name) && name[0] != '.' && name[0] != '-' && len(name) <= longest
}

// store creates a file of n bytes, which must not exist, with the output of write. It removes the file after an error.
func (s *Saver) store(dir *os.Root, name string, n int64, write func(to io.Writer) error) error {
	to, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return wire.NewFault(wire.Conflict, "the file already exists", err)
	case err != nil:
		return wire.NewFault(wire.IO, err.Error(), err)
	}
	err = cmp.Or(write(to), to.Close())
	if err != nil {
		_ = dir.Remove(name)
		if wire.AsFault(err) == nil {
			err = wire.NewFault(wire.IO, err.Error(), err)
		}
		return err
	}
	if s.Saved != nil {
		s.Saved(s.Dir+string(os.PathSeparator)+name, n)
	}
	return nil
}

// read lists the announced artifacts.
func read(announced json.RawMessage) (refs []ref) {
	for key, val := range scan.Members(announced) {
		r := ref{name: scan.Key(key), finalized: string(scan.Get(val, "finalized")) == "true"}
		r.uri, _ = scan.Text(scan.Get(val, "uri"))
		r.path, _ = scan.Text(scan.Get(val, "path"))
		r.sum, _ = scan.Text(scan.Get(val, "sha256"))
		if err := json.Unmarshal(scan.Get(val, "byteSize"), &r.size); err != nil {
			r.size = -1
		}
		refs = append(refs, r)
	}
	return refs
}

// save copies and checks one artifact.
func (s *Saver) save(ctx context.Context, dir *os.Root, r ref) error {
	maxSize := s.maxSize()
	switch {
	case !isFileName(r.name):
		return unfit("its name is not a valid file name")
	case !r.finalized:
		return unfit("it is not finalized: the host may still write to it")
	case r.size < 0:
		return unfit("its byteSize is not a number of bytes")
	case r.size > maxSize:
		return unfit(fmt.Sprintf("it has %d bytes, more than --max-artifact %d", r.size, maxSize))
	}
	from, err := s.open(ctx, r)
	if err != nil {
		return err
	}
	defer from.Close()
	return s.store(dir, r.name, r.size, func(to io.Writer) error { return copyChecked(to, from, r) })
}

// copyChecked copies an artifact and returns the difference from the announcement.
func copyChecked(to io.Writer, from io.Reader, r ref) error {
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, h), io.LimitReader(from, r.size+1))
	switch {
	case err != nil:
		return err
	case n > r.size:
		return unfit(fmt.Sprintf("it has more than the announced %d bytes", r.size))
	case n < r.size:
		return unfit(fmt.Sprintf("it has %d bytes instead of the announced %d", n, r.size))
	case hex.EncodeToString(h.Sum(nil)) != r.sum:
		return unfit("its sha256 differs from the announced one")
	}
	return nil
}

func refused(text string) *wire.Fault { return wire.NewFault(wire.Usage, text, nil) }
func unfit(text string) *wire.Fault   { return wire.NewFault(wire.Expectation, text, nil) }

// maxShown bounds the width of an artifact's name in a message.
const maxShown = 81

// about adds the artifact's name to a failure.
func about(name string, err error) error {
	if f := wire.AsFault(err); f != nil {
		return f.About(fmt.Sprintf("artifact %q", format.Cut(name, maxShown)))
	}
	return err
}
