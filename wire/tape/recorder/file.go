package recorder

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/tape"
)

// open opens the file of a tape, unless another recorder is writing to it. If the tape is to be continued, size is its length.
// Otherwise the file is empty, or is not a regular file.
func open(name string, what Existing) (f *os.File, size int64, err error) {
	mode := os.O_WRONLY
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		mode = os.O_RDWR
	}
	f, err = os.OpenFile(name, os.O_CREATE|mode, 0o600)
	if err != nil {
		return nil, 0, unwritable(name, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if !lock(f) {
		return nil, 0, wire.NewFault(wire.Conflict, fmt.Sprintf("another rpcx process is recording to the tape %s", name), nil)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, unwritable(name, err)
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return f, 0, nil
	}
	if what == Append {
		return f, info.Size(), nil
	}
	if what == Refuse && !unused(f, name) {
		return nil, 0, exists(name)
	}
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		return nil, 0, unwritable(name, err)
	}
	return f, 0, nil
}

// unused reports whether the tape in f contains no messages, for example because no peer was reached.
func unused(f *os.File, name string) bool {
	lines, err := tape.NewReader(f, name)
	for err == nil {
		var line *tape.Line
		if line, err = lines.Next(); err == nil && line.Kind == tape.Message {
			return false
		}
	}
	if lines == nil || !errors.Is(err, io.EOF) {
		return false
	}
	_, cut := lines.Cut()
	return !cut
}

func exists(name string) error {
	return wire.NewFault(wire.Conflict, fmt.Sprintf("the tape %s exists", name), nil).WithHint("--force replaces it, --append continues it")
}

// follow reads the tape in f and sets o so that recording continues it.
func (r *Recorder) follow(f *os.File, name string, o *tape.Options) error {
	lines, err := tape.NewReader(f, name)
	if err != nil {
		return err
	}
	const usual = "jsonrpc"
	if was, now := cmp.Or(lines.Header().Dialect, usual), cmp.Or(r.o.Header.Dialect, usual); was != now {
		return wire.Usagef("the tape %s contains %s messages: %s messages cannot be appended", name, was, now)
	}
	o.Started = lines.Header().Started
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		r.conns = max(r.conns, line.Conn, 1)
		r.marks = max(r.marks, redact.LastMark(line.Msg))
		if lines.Header().Started.IsZero() {
			o.Started = time.Now().Add(-line.Time)
		}
	}
	if line, cut := lines.Cut(); cut {
		return tape.Fault(name, line, errors.New("the tape ends in the middle of this line; remove the line before you append"))
	}
	if o.Started.IsZero() {
		o.Started = time.Now()
	}
	if o.Size, err = endLine(f); err != nil {
		return unwritable(name, err)
	}
	return nil
}

// endLine moves to the end of f, adds a line break if the last line has none, and returns the size of f.
func endLine(f *os.File) (size int64, err error) {
	if size, err = f.Seek(0, io.SeekEnd); err != nil {
		return 0, err
	}
	last := make([]byte, 1)
	if _, err = f.ReadAt(last, size-1); err == nil && last[0] != '\n' {
		size++
		_, err = f.Write([]byte("\n"))
	}
	return size, err
}

// unsplit returns a Fault if there is a tape from an earlier recording with Split.
func (r *Recorder) unsplit() error {
	ext := filepath.Ext(r.o.File)
	all, _ := filepath.Glob(strings.TrimSuffix(r.o.File, ext) + "-[0-9]*" + ext)
	if len(all) > 0 && r.o.Exists == Refuse {
		return exists(all[0])
	}
	return nil
}

// splitName returns the file name for connection n: orders-2.tape for orders.tape.
func splitName(file string, n int) string {
	ext := filepath.Ext(file)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(file, ext), n, ext)
}
