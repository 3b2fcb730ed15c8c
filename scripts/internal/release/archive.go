package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
)

// archive packs files in the directory stage into a zip file for Windows, or else a tar.gz file. In the archive, they are in a
// directory with the given name, in the given order.
func (r *release) archive(t target, stage, name string, files []string) error {
	pack, ext := r.tar, ".tar.gz"
	if t.system == "windows" {
		pack, ext = r.zip, ".zip"
	}
	out, err := os.Create(filepath.Join(r.out, name+ext))
	if err != nil {
		return err
	}
	if err := errors.Join(pack(out, stage, name, files), out.Close()); err != nil {
		return err
	}
	fmt.Println(name + ext)
	return nil
}

func (r *release) tar(out io.Writer, stage, name string, files []string) error {
	z := gzip.NewWriter(out)
	w := tar.NewWriter(z)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(stage, f))
		if err != nil {
			return err
		}
		h := tar.Header{Name: path.Join(name, filepath.ToSlash(f)), Mode: int64(mode(f)), Size: int64(len(b)), ModTime: r.time, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), z.Close())
}

func (r *release) zip(out io.Writer, stage, name string, files []string) error {
	w := zip.NewWriter(out)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(stage, f))
		if err != nil {
			return err
		}
		h := zip.FileHeader{Name: path.Join(name, filepath.ToSlash(f)), Method: zip.Deflate, Modified: r.time}
		h.SetMode(mode(f))
		to, err := w.CreateHeader(&h)
		if err != nil {
			return err
		}
		if _, err := to.Write(b); err != nil {
			return err
		}
	}
	return w.Close()
}

// mode returns the mode of a file in an archive, which must not depend on the machine.
func mode(file string) os.FileMode {
	if file == "rpcx" || file == "rpcx.exe" {
		return 0o755
	}
	return 0o644
}

// copy copies a file of the repository, and gives it the time of the commit.
func (r *release) copy(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(to, b, 0o644); err != nil {
		return err
	}
	return errors.Join(os.Chmod(to, 0o644), os.Chtimes(to, r.time, r.time))
}

// compress writes a compressed copy of a file next to it, which is how packages contain manual pages.
func (r *release) compress(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	out, err := os.Create(file + ".gz")
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = z.Write(b)
	return errors.Join(err, z.Close(), out.Close(), os.Chmod(file+".gz", 0o644), os.Chtimes(file+".gz", r.time, r.time))
}
