package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// scripts is the test whose subtests are run separately, because only a few of them reach a given change.
const scripts = "TestScripts"

// A unit is a group of tests that are run together: the tests of a package, or one script.
type unit struct {
	p       *source
	script  string // the script, or "" for all other tests of the package
	took    time.Duration
	reaches map[int]bool
}

func (u *unit) String() string {
	if u.script != "" {
		return u.script
	}
	return strings.TrimPrefix(u.p.path, "rpcx/")
}

// trace runs all tests with all switches off, and records which switches each test reaches. A test that fails is reported and not used.
func (b *built) trace(jobs int) ([]*unit, error) {
	var units []*unit
	for _, p := range b.packages {
		units = append(units, &unit{p: p})
		files, _ := filepath.Glob(filepath.Join(p.folder, "testdata", "script", "*.txtar"))
		for _, file := range files {
			units = append(units, &unit{p: p, script: strings.TrimSuffix(filepath.Base(file), ".txtar")})
		}
	}
	var mu sync.Mutex
	var good []*unit
	each(jobs, units, func(job int, u *unit) {
		var r outcome
		for range 3 { // a test may fail once on a busy machine
			begun := time.Now()
			r = b.run(job, "trace", []*unit{u}, 10*time.Minute)
			u.took = time.Since(begun)
			u.reaches = r.reached
			if r.passed {
				mu.Lock()
				defer mu.Unlock()
				good = append(good, u)
				return
			}
		}
		say("left out, because it fails without a change: %v\n%s", u, r.output)
	})
	if len(good) == 0 {
		return nil, errors.New("no test passes")
	}
	return good, nil
}

// try tries each change and prints the outcome.
func (b *built) try(units []*unit, o options) error {
	var mu sync.Mutex
	var noticed, unreached, survived int
	each(o.jobs, b.changes, func(job int, m *mutant) {
		by, reached := b.notices(job, m, units)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case by != "":
			noticed++
			fmt.Printf("noticed   %v (%s)\n", m, by)
		case reached == 0:
			unreached++
			fmt.Printf("UNREACHED %v\n", m)
		default:
			survived++
			fmt.Printf("SURVIVED  %v (%d tests reach it)\n", m, reached)
		}
	})
	part := float64(noticed) / float64(len(b.changes))
	fmt.Printf("%d changes: %d noticed (%.1f %%), %d survived, %d not reached by any test\n", len(b.changes), noticed, 100*part, survived, unreached)
	if part < o.least {
		return fmt.Errorf("less than %.0f %% are noticed", 100*o.least)
	}
	return nil
}

// notices returns the test that fails with the change m, and how many tests reach m. A test counts only if it fails twice.
func (b *built) notices(job int, m *mutant, units []*unit) (by string, reached int) {
	var those []*unit
	for _, u := range units {
		if u.reaches[m.id] {
			those = append(those, u)
		}
	}
	// The shortest tests run first, because little time is then lost if a change makes tests hang.
	slices.SortStableFunc(those, func(a, b *unit) int { return cmp.Compare(a.took, b.took) })
	for _, group := range groups(those) {
		var longest time.Duration
		for _, u := range group {
			longest += u.took
		}
		patience := 20*time.Second + 2*longest
		r := b.run(job, fmt.Sprint(m.id), group, patience)
		if r.passed {
			continue
		}
		if r.late {
			return "it does not end: " + group[0].String(), len(those)
		}
		for _, u := range group {
			if !r.failed(u) {
				continue
			}
			if again := b.run(job, fmt.Sprint(m.id), []*unit{u}, patience); !again.passed {
				return u.String(), len(those)
			}
		}
	}
	return "", len(those)
}

// groups puts scripts that one binary can run into groups. The first groups are small, because the first scripts notice most changes.
func groups(units []*unit) (all [][]*unit) {
	size := 4
	var scripts []*unit
	for _, u := range units {
		if u.script == "" {
			all = append(all, []*unit{u})
			continue
		}
		if scripts = append(scripts, u); len(scripts) == size {
			all, scripts, size = append(all, scripts), nil, min(size*2, 32)
		}
	}
	if len(scripts) > 0 {
		all = append(all, scripts)
	}
	return all
}

type outcome struct {
	passed, late bool
	reached      map[int]bool
	output       string
}

var failure = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)

// failed reports whether u is among the failed tests.
func (r outcome) failed(u *unit) bool {
	if u.script == "" {
		return true
	}
	named := false
	for _, m := range failure.FindAllStringSubmatch(r.output, -1) {
		if script, ok := strings.CutPrefix(m[1], scripts+"/"); ok {
			named = true
			if script == u.script {
				return true
			}
		}
	}
	return !named // the tests ended before the failed one was named
}

// run runs units of one binary with the active change. It kills all processes that remain and removes all files.
func (b *built) run(job int, active string, units []*unit, patience time.Duration) outcome {
	tmp := filepath.Join(b.folder, fmt.Sprint(job))
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return outcome{output: err.Error()}
	}
	defer os.RemoveAll(tmp)
	file := b.active(job)
	os.Remove(file + ".reached")
	if err := os.WriteFile(file, []byte(active), 0o600); err != nil {
		return outcome{output: err.Error()}
	}
	args := []string{"-test.timeout", patience.String()}
	if units[0].script == "" {
		args = append(args, "-test.failfast", "-test.skip", "^"+scripts+"$")
	} else {
		var names []string
		for _, u := range units {
			names = append(names, regexp.QuoteMeta(u.script))
		}
		args = append(args, "-test.failfast", "-test.run", "^"+scripts+"$/^("+strings.Join(names, "|")+")$")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.binary(units[0].p, job), args...)
	cmd.Dir = units[0].p.folder
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	sweep(tmp)
	reached := map[int]bool{}
	if b, err := os.ReadFile(file + ".reached"); err == nil {
		for line := range strings.Lines(string(b)) {
			var id int
			if _, err := fmt.Sscan(line, &id); err == nil {
				reached[id] = true
			}
		}
	}
	late := ctx.Err() != nil || strings.Contains(out.String(), "panic: test timed out")
	return outcome{passed: err == nil, late: late, reached: reached, output: tail(out.String())}
}

func tail(text string) string {
	if len(text) > 20000 {
		return text[len(text)-20000:]
	}
	return text
}

// sweep kills all processes whose working directory is below folder, because a change can leave processes behind.
func sweep(folder string) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, folder+"/") {
			var pid int
			if _, err := fmt.Sscanf(link, "/proc/%d/cwd", &pid); err == nil && pid != os.Getpid() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// each calls do for all items, in n goroutines.
func each[T any](n int, items []T, do func(job int, item T)) {
	todo := make(chan T)
	var wg sync.WaitGroup
	for job := range n {
		wg.Go(func() {
			for item := range todo {
				do(job, item)
			}
		})
	}
	for _, item := range items {
		todo <- item
	}
	close(todo)
	wg.Wait()
}
