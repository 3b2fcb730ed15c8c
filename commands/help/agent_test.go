package help_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rpcx/commands/cmdline"
	"rpcx/commands/help"
)

// TestAgentKnowsStatuses checks that the topic for agents explains all exit statuses, in the order of the table, and no others.
func TestAgentKnowsStatuses(t *testing.T) {
	topic := help.TopicNamed("agent")
	if topic == nil {
		t.Fatal("there is no topic agent")
	}
	_, rows, _ := strings.Cut(topic.Text, "# ERRORS\n")
	rows, _, _ = strings.Cut(rows, "\n# ")
	var exist, told []int
	for _, s := range cmdline.ExitStatuses() {
		exist = append(exist, s.Code)
	}
	row := regexp.MustCompile(`(?m)^  (\d+)(?:(, |-)(\d+))?  +\S`)
	for _, m := range row.FindAllStringSubmatch(rows, -1) {
		from, _ := strconv.Atoi(m[1])
		to := from
		if m[3] != "" {
			to, _ = strconv.Atoi(m[3])
		}
		for _, code := range exist {
			if code == from || code == to || m[2] == "-" && from < code && code < to {
				told = append(told, code)
			}
		}
		for _, code := range []int{from, to} {
			if !slices.Contains(exist, code) {
				t.Errorf("the topic lists %d, which is not a status", code)
			}
		}
	}
	if !slices.Equal(told, exist) {
		t.Errorf("the topic lists the statuses %v, want %v", told, exist)
	}
}
