package artifacts

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// EmbeddedFlags returns the flags for files in a response.
func (s *Flags) EmbeddedFlags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Text(groupFiles, "save", "", "save the files in the result, such as images, under `DIR`", &s.Dir).Filled("a directory"),
		cmdline.Generic(groupFiles, "max-artifact", "refuse files larger than `SIZE` (1G)", &s.maxSize),
	}
}

// CheckEmbedded returns an error if --save is given, but the dialect's responses contain no files.
func (s *Flags) CheckEmbedded(run *env.Env, e endpoint.Endpoint) error {
	held := e.Spec().Files
	if s.Dir == "" || e.Dialect == "" || held.AreEmbedded() {
		return nil
	}
	f := run.Line.Usage("--save: responses in %s contain values, not files", e.Dialect)
	if held != nil {
		f.Hint = "save the files of a job with rpcx job run"
	}
	return f
}

// SaveEmbedded saves the files in raw, a whole response, if --save is given. Otherwise it prints a note about them.
func (s *Flags) SaveEmbedded(ctx context.Context, run *env.Env, e endpoint.Endpoint, raw json.RawMessage) error {
	held := e.Spec().Files
	if !held.AreEmbedded() || raw == nil {
		return nil
	}
	files := held.Embedded(raw)
	if !s.wanted(run, len(files), "the result has no files to save") {
		return nil
	}
	return env.Cause(ctx, s.saver(run).SaveFiles(files))
}

// wanted reports whether to save n files. It prints a note about files without --save, and the note none about --save without
// files.
func (s *Flags) wanted(run *env.Env, n int, none string) bool {
	switch {
	case s.Dir == "" && n > 0:
		run.Console.Note("the result has files (--save DIR saves them)")
	case s.Dir != "" && n == 0:
		run.Console.Note(none)
	}
	return s.Dir != "" && n > 0
}

// saver returns a Saver that prints a message for each saved file.
func (s *Flags) saver(run *env.Env) *Saver {
	return &Saver{Dir: s.Dir, Root: s.root, Hosts: s.hosts, MaxSize: int64(s.maxSize), Saved: func(path string, n int64) {
		run.Console.Note(fmt.Sprintf("saved %s (%d bytes)", path, n))
	}}
}

// SaveFiles saves the files of a result. It names a file as the peer does if that name is valid, and otherwise by the
// file's kind and index. It overwrites no file. After an error, it saves the other files.
func (s *Saver) SaveFiles(files []wire.File) error {
	taken := map[string]bool{}
	return saveEach(s, files, func(dir *os.Root, i int, f wire.File) (string, error) {
		name := nameOf(f, i, taken)
		return name, s.write(dir, name, f)
	})
}

// nameOf returns the name for the file at index i.
func nameOf(f wire.File, i int, taken map[string]bool) string {
	name := f.Name
	if !isFileName(name) {
		name = f.Kind + "-" + strconv.Itoa(i+1)
	}
	if filepath.Ext(name) == "" {
		name += extensions[strings.TrimSpace(strings.Split(f.Type, ";")[0])]
	}
	for n, ext := 2, filepath.Ext(name); taken[name]; n++ { // another file in this result has the name
		name = strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(n) + ext
	}
	taken[name] = true
	return name
}

// extensions are the extensions for files with a type but no name.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/flac": ".flac",
	"video/mp4": ".mp4", "application/pdf": ".pdf", "application/json": ".json", "application/zip": ".zip", "application/gzip": ".gz",
	"text/plain": ".txt", "text/html": ".html", "text/markdown": ".md", "text/csv": ".csv",
}

func (s *Saver) write(dir *os.Root, name string, f wire.File) error {
	var content []byte
	if text, ok := scan.Text(f.Text); ok && f.Base64 == nil {
		content = []byte(text)
	} else {
		text, ok := scan.Text(f.Base64)
		var err error
		if content, err = base64.StdEncoding.DecodeString(text); err != nil || !ok {
			return unfit("its content is not base64")
		}
	}
	if n := int64(len(content)); n > s.maxSize() {
		return unfit(fmt.Sprintf("it has %d bytes, more than --max-artifact %d", n, s.maxSize()))
	}
	return s.store(dir, name, int64(len(content)), func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
}
