package commands

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

var (
	sleeps = regexp.MustCompile(`\bsleep ([0-9.]+|\$\w+)`)
	looks  = regexp.MustCompile(`(until|while) .*?; do sleep 0\.[0-9]+; done`) // a loop that polls for an event
	hangs  = regexp.MustCompile(`^([2-9][0-9]|[0-9]{3,4})$`)                   // longer than any test; the test kills the process
	timed  = regexp.MustCompile(`(?m)^# time: sleep (\S+): .+$`)
)

// TestScriptsDoNotSleep checks that scripts wait for events. A script that tests a time has a line `# time: sleep N: WHY`.
func TestScriptsDoNotSleep(t *testing.T) {
	testkit.RaceSkips(t)
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		text := read(t, file)
		said, used := map[string]bool{}, map[string]bool{}
		for _, m := range timed.FindAllStringSubmatch(text, -1) {
			said[m[1]] = true
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			for _, m := range sleeps.FindAllStringSubmatch(looks.ReplaceAllString(line, ""), -1) {
				used[m[1]] = true
				if !said[m[1]] && !hangs.MatchString(m[1]) {
					t.Errorf("%s: %q: wait for an event, or say why in a line # time: sleep %s: …", file, strings.TrimSpace(line), m[1])
				}
			}
		}
		for n := range said {
			if !used[n] {
				t.Errorf("%s: nothing sleeps %s: remove the line # time:", file, n)
			}
		}
	}
}
