//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A complaint is a line on stderr with --errors json.
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

// patience bounds the orderly close of a connection after a command has its result. A child is first asked to exit and then killed.
// A recorder has two sides, and a player's --idle starts when it is connected.
const patience = 4 * time.Second

// judge compares the outcome of a cell with the expected one.
func (b *bench) judge(v *verdict) {
	want := v.expected()
	out, all := "", true
	for i, s := range v.steps {
		name := ""
		if len(v.steps) > 1 {
			name = strings.Join(s.args[:2], " ") + ": "
		}
		for _, problem := range b.checked(v, s, want[i], i == 0) {
			v.wrong("%s%s", name, problem)
		}
		out, all = out+s.stdout, all && s.status == 0
	}
	loose := v.cell.fault.anyOutput || v.cell.fault.kind == unexpected || v.cell.run.name == "record"
	if all && out != v.cell.run.want && !loose {
		v.wrong("status 0 with stdout %q, not %q", out, v.cell.run.want)
	}
}

// checked returns the mistakes in one step.
func (b *bench) checked(v *verdict, s step, want []int, first bool) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if !slices.Contains(want, s.status) {
		wrong("status %d, not %s", s.status, oneOf(want))
	}
	limit := b.timeout + b.slack
	if v.cell.run.name == "record" || v.cell.run.name == "replay" || slices.Contains(s.args, "close") {
		limit += patience
	}
	if s.took > limit {
		wrong("took %.2fs, more than %v", s.took.Seconds(), limit)
	}
	if s.killed {
		wrong("did not end")
	}
	// Other processes may have delayed a command that took almost its maximum time.
	v.slow = v.slow || s.killed || s.took > b.timeout*9/10
	if tooMuch(s.rss) {
		wrong("used %d MB", s.rss>>10)
	}
	if v.cell.fault.kind != terminated {
		problems = append(problems, v.stderrMistakes(s, first)...)
	}
	return problems
}

// tooMuch reports whether a process has used too much memory. The limit includes the memory of this program, which the system
// counts for its children.
func tooMuch(kib int64) bool {
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil {
		return kib > mostRSS
	}
	return kib > max(mostRSS, int64(own.Maxrss))
}

// stderrMistakes returns the mistakes on a command's stderr. A failed command must print one correct message, and a successful one must print none.
func (v *verdict) stderrMistakes(s step, first bool) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if trace.MatchString(s.stderr) {
		wrong("stderr has a stack trace")
	}
	messages := v.messages(s, wrong)
	want := 0
	if s.status != 0 {
		want = 1
	}
	if len(messages) != want {
		wrong("status %d with %d messages on stderr: %q", s.status, len(messages), messages)
	}
	if says := v.cell.fault.messagePattern(s.status); first && len(messages) == 1 && says != nil && !says.MatchString(messages[0]) {
		wrong("status %d with a message that does not match %s: %q", s.status, says, messages[0])
	}
	return problems
}

// messages returns the error messages on a command's stderr.
func (v *verdict) messages(s step, wrong func(string, ...any)) (messages []string) {
	for line := range strings.Lines(s.stderr) {
		line = strings.TrimSuffix(line, "\n")
		var c complaint
		rest, ours := strings.CutPrefix(line, "rpcx: ")
		switch {
		case json.Unmarshal([]byte(line), &c) == nil:
			if c.Error == nil {
				continue
			}
			messages = append(messages, c.Error.Message)
			if c.Error.Status != s.status || c.Error.Kind != kinds[s.status] {
				wrong("status %d, but the message has status %d, %s", s.status, c.Error.Status, c.Error.Kind)
			}
		case ours && !strings.HasPrefix(rest, "warning: ") && !strings.HasPrefix(rest, "note: "):
			messages = append(messages, rest)
		case !ours && !v.shows(line):
			wrong("stderr has %q", line)
		}
	}
	return messages
}

// shows reports whether a line on stderr can be something other than a message: output of a child, a request from the peer that
// rpcx prints, or a fix.
func (v *verdict) shows(line string) bool {
	return line == "" || strings.HasPrefix(line, "try: ") || v.cell.over.child && v.occurred != never || v.cell.fault.asks()
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

// A table counts the results of the cells.
type table struct {
	passed, failed, unable, notReached int
	run                                int
	rows                               map[string]*[3]int // by command and transport
	late                               []cell
	why                                map[string]int // number of impossible cells, by reason
}

func (t *table) row(c cell) *[3]int {
	if t.rows == nil {
		t.rows = map[string]*[3]int{}
	}
	name := c.run.name + "/" + c.over.name
	if t.rows[name] == nil {
		t.rows[name] = new([3]int)
	}
	return t.rows[name]
}

func (t *table) add(v verdict) {
	t.run++
	switch {
	case len(v.faults) > 0:
		t.failed++
		t.row(v.cell)[1]++
	case v.occurred == never && v.cell.fault.name != "none":
		t.notReached++
		t.row(v.cell)[2]++
		t.because("the conversation went on without such a message")
	default:
		t.passed++
		t.row(v.cell)[0]++
	}
}

func (t *table) cannot(c cell) {
	t.unable++
	t.row(c)[2]++
	t.because(c.cannot())
}

func (t *table) because(why string) {
	if t.why == nil {
		t.why = map[string]int{}
	}
	t.why[why]++
}

// print prints how many cells passed, failed or are impossible, for each command and transport.
func (t *table) print() {
	fmt.Printf("\n%-10s", "")
	for _, over := range transports {
		fmt.Printf(" %9s", over.name)
	}
	fmt.Println()
	for _, run := range commands {
		line := fmt.Sprintf("%-10s", run.name)
		any := false
		for _, over := range transports {
			n := t.rows[run.name+"/"+over.name]
			if n == nil {
				line += fmt.Sprintf(" %9s", ".")
				continue
			}
			any = true
			line += fmt.Sprintf(" %9s", fmt.Sprintf("%d/%d/%d", n[0], n[1], n[2]))
		}
		if any {
			fmt.Println(line)
		}
	}
	fmt.Println("passed/failed/impossible")
	for _, c := range t.late {
		fmt.Printf("too slow in parallel, in time when run alone: %s\n", c.name())
	}
	for _, why := range slices.Sorted(maps.Keys(t.why)) {
		fmt.Printf("%5d impossible: %s\n", t.why[why], why)
	}
	fmt.Printf("faults: %d passed, %d failed, %d impossible\n", t.passed, t.failed, t.unable+t.notReached)
}

// tell prints a failed cell, or with -v any cell.
func (b *bench) tell(v verdict) {
	if len(v.faults) == 0 && !b.verbose {
		return
	}
	mark := "ok"
	if len(v.faults) > 0 {
		mark = "not ok"
	}
	fmt.Printf("%s %s", mark, v.cell.name())
	if v.occurred != never {
		fmt.Printf(" (fault: %s)", v.occurred)
	}
	fmt.Println()
	for _, f := range v.faults {
		fmt.Printf("    %s\n", f)
	}
	if len(v.faults) > 0 {
		fmt.Printf("    run again: scripts/faults --cell %s --seed %d -v\n", v.cell.name(), b.seed)
	}
	most := 300
	if b.verbose {
		most = 4000
	}
	if b.verbose || len(v.faults) > 0 {
		if v.holds != "" {
			fmt.Printf("    continues with %s\n", v.holds)
		}
		for _, s := range v.steps {
			fmt.Printf("    $ rpcx %s\n", strings.Join(s.args, " "))
			fmt.Printf("      status %d after %.2fs, %d MB\n", s.status, s.took.Seconds(), s.rss>>10)
			fmt.Printf("      stdout %.*q\n      stderr %.*q\n", most, s.stdout, most, s.stderr)
		}
	}
}
