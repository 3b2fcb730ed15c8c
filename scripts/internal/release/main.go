// Command release builds the published files of a version (see scripts/release).
//
// With the same version of Go, every build of a commit produces the same bytes on any machine: binaries contain neither paths nor
// times, archives have their files in a fixed order, and all files have the time of the commit.
package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type target struct{ system, arch string }

func (t target) String() string { return t.system + "/" + t.arch }

var targets = []target{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"freebsd", "amd64"},
	{"freebsd", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

var packagers = []string{"deb", "rpm"}

// documents are the files that accompany each binary.
var documents = []string{"README.md", "LICENSE", "CHANGELOG.md", "man/*", "completions/*"}

// A release is one run of the command.
type release struct {
	version string
	out     string // directory for the results
	tmp     string
	nfpm    string // path of the program that builds packages
	time    time.Time
	targets []target
}

func main() {
	r, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		fmt.Fprintln(os.Stderr, "usage: scripts/release [--only OS/ARCH]... VERSION [FOLDER]")
		os.Exit(2)
	}
	if err := r.run(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// versions matches those versions of semver.org that packages accept.
var versions = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

func parse(words []string) (*release, error) {
	r := &release{out: "dist", targets: targets}
	var only []target
	for len(words) > 1 && words[0] == "--only" {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == words[1] })
		if i < 0 {
			return nil, fmt.Errorf("nothing is made for %q, but for %v", words[1], targets)
		}
		only, words = append(only, targets[i]), words[2:]
	}
	if only != nil {
		r.targets = only
	}
	if len(words) == 0 || len(words) > 2 || !versions.MatchString(words[0]) {
		return nil, errors.New("VERSION is as 1.2.3, or 1.2.3-rc.1")
	}
	r.version = words[0]
	if len(words) == 2 {
		r.out = words[1]
	}
	return r, nil
}

func (r *release) run() (err error) {
	if r.time, err = commitTime(); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if left, err := os.ReadDir(r.out); err != nil || len(left) > 0 {
		return errors.Join(fmt.Errorf("%s is not empty", r.out), err)
	}
	if r.tmp, err = os.MkdirTemp("", "rpcx-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.tmp)
	if slices.ContainsFunc(r.targets, func(t target) bool { return t.system == "linux" }) {
		r.nfpm = filepath.Join(r.tmp, "nfpm")
		if err := run(exec.Command("go", "build", "-C", "scripts/internal/release/nfpm", "-o", r.nfpm, "github.com/goreleaser/nfpm/v2/cmd/nfpm")); err != nil {
			return err
		}
	}
	for _, t := range r.targets {
		if err := r.make(t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return r.sums()
}

// commitTime returns the time of the commit, which all files get.
func commitTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		b, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit: %w (without git, set SOURCE_DATE_EPOCH)", err)
		}
		text = strings.TrimSpace(string(b))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// make builds the archive and, for Linux, the packages of one system.
func (r *release) make(t target) error {
	name := fmt.Sprintf("rpcx-%s-%s-%s", r.version, t.system, t.arch)
	stage := filepath.Join(r.tmp, name)
	binary := "rpcx"
	if t.system == "windows" {
		binary += ".exe"
	}
	if err := os.MkdirAll(stage, 0o755); err != nil {
		return err
	}
	build := exec.Command("scripts/build", filepath.Join(stage, binary))
	build.Env = append(os.Environ(), "GOOS="+t.system, "GOARCH="+t.arch, "RPCX_VERSION="+r.version)
	if err := run(build); err != nil {
		return err
	}
	files := []string{binary}
	for _, pattern := range documents {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			return errors.Join(fmt.Errorf("there is no %s", pattern), err)
		}
		for _, n := range names {
			if err := r.copy(n, filepath.Join(stage, n)); err != nil {
				return err
			}
		}
		files = append(files, names...)
	}
	if err := r.archive(t, stage, name, files); err != nil {
		return err
	}
	if t.system != "linux" {
		return nil
	}
	return r.packages(t, stage, files)
}

// packages builds the packages for one system from the files in its archive.
func (r *release) packages(t target, stage string, files []string) error {
	for _, n := range files {
		if strings.HasPrefix(n, "man/rpcx") || n == "CHANGELOG.md" {
			if err := r.compress(filepath.Join(stage, n)); err != nil {
				return err
			}
		}
	}
	config, err := filepath.Abs("scripts/internal/release/nfpm.yaml")
	if err != nil {
		return err
	}
	for _, p := range packagers {
		file := fmt.Sprintf("rpcx-%s-%s-%s.%s", r.version, t.system, t.arch, p)
		cmd := exec.Command(r.nfpm, "package", "--config", config, "--packager", p, "--target", filepath.Join(r.out, file))
		cmd.Dir = stage
		cmd.Env = append(os.Environ(), "VERSION="+r.version, "ARCH="+t.arch,
			"SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
		if err := run(cmd); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return nil
}

// sums writes SHA256SUMS in the format of sha256sum -c.
func (r *release) sums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(b), e.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(lines.String()), 0o644)
}

// run runs a program. Its error contains the program's output.
func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}
