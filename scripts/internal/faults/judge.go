//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A complaint is what stands in a line of stderr with --errors json.
type complaint struct {
	Error *struct {
		Status  int    `json:"status"`
		Kind    string `json:"kind"`
		Message string `json:"message"`
	} `json:"error"`
}

var kinds = map[int]string{
	1: "rpc_error", 2: "usage", 3: "unreachable", 4: "expectation", 5: "protocol", 6: "auth", 7: "closed", 8: "helper", 9: "conflict",
	70: "internal", 74: "io", 124: "timeout", 126: "not_executable", 127: "not_found",
}

var trace = regexp.MustCompile(`goroutine \d+ \[|^panic: |runtime error|fatal error: `)

// patience is how long a connection may take to end in good order after what a
// command was for: a child is asked, then forced; a recorder has two sides, and a
// player's --idle begins when it is connected.
const patience = 4 * time.Second

// judge holds what came of a cell against what may come.
func (b *bench) judge(v *verdict) {
	want := v.expected()
	for i, s := range v.steps {
		name := ""
		if len(v.steps) > 1 {
			name = strings.Join(s.args[:2], " ") + ": "
		}
		if !slices.Contains(want[i], s.status) {
			v.wrong("%sstatus %d, not %s", name, s.status, oneOf(want[i]))
		}
		limit := b.timeout + b.slack
		if v.cell.run.name == "record" || v.cell.run.name == "replay" || slices.Contains(s.args, "close") {
			limit += patience
		}
		if s.took > limit {
			v.wrong("%stook %.2fs, more than %v", name, s.took.Seconds(), limit)
			v.slow = true
		}
		if s.killed {
			v.wrong("%sdid not end", name)
			v.slow = true
		}
		if tooMuch(s.rss) {
			v.wrong("%stook %d MB", name, s.rss>>10)
		}
		if v.cell.fault.kind != told {
			for _, problem := range v.words(s, i == 0) {
				v.wrong("%s%s", name, problem)
			}
		}
		if s.took > b.timeout*9/10 {
			v.slow = true // it may have waited for what others kept from it
		}
	}
	out := ""
	for _, s := range v.steps {
		out += s.stdout
	}
	all := !slices.ContainsFunc(v.steps, func(s step) bool { return s.status != 0 })
	if all && out != v.cell.run.want && !v.cell.fault.loose && v.cell.fault.kind != stray && v.cell.run.name != "record" {
		v.wrong("status 0 with stdout %q, not %q", out, v.cell.run.want)
	}
}

// tooMuch says whether a process took more memory than it may. What this program has
// taken itself cannot be told from that.
func tooMuch(kib int64) bool {
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil {
		return kib > mostRSS
	}
	return kib > max(mostRSS, int64(own.Maxrss))
}

// words holds what a command says on stderr to be one true message where it fails,
// and none where it does not.
func (v *verdict) words(s step, first bool) (problems []string) {
	if trace.MatchString(s.stderr) {
		problems = append(problems, "stderr has a stack trace")
	}
	var messages []string
	for line := range strings.Lines(s.stderr) {
		line = strings.TrimSuffix(line, "\n")
		var c complaint
		if json.Unmarshal([]byte(line), &c) == nil {
			if c.Error == nil {
				continue
			}
			messages = append(messages, c.Error.Message)
			if c.Error.Status != s.status || c.Error.Kind != kinds[s.status] {
				problems = append(problems, fmt.Sprintf("status %d, and it says %d, %s", s.status, c.Error.Status, c.Error.Kind))
			}
		} else if rest, ok := strings.CutPrefix(line, "rpcx: "); ok && !strings.HasPrefix(rest, "warning: ") && !strings.HasPrefix(rest, "note: ") {
			messages = append(messages, rest)
		} else if v.cell.over.child && v.struck != never || v.cell.fault.asks() {
			continue // what a child writes beside messages is shown, and what a peer has to say
		} else if rest == line && line != "" && !strings.HasPrefix(line, "try: ") {
			problems = append(problems, fmt.Sprintf("stderr has %q", line))
		}
	}
	want := 0
	if s.status != 0 {
		want = 1
	}
	if len(messages) != want {
		problems = append(problems, fmt.Sprintf("status %d with %d messages on stderr: %q", s.status, len(messages), messages))
	}
	if says := v.cell.fault.says(s.status); first && len(messages) == 1 && says != nil && !says.MatchString(messages[0]) {
		problems = append(problems, fmt.Sprintf("status %d with a message that does not say %s: %q", s.status, says, messages[0]))
	}
	return problems
}

func oneOf(statuses []int) string {
	text := ""
	for i, s := range statuses {
		if i > 0 {
			text += " or "
		}
		text += fmt.Sprint(s)
	}
	return text
}
