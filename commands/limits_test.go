package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rpcx/commands/cmdline"
)

// TestLimits checks that each flag in the table of limits exists.
func TestLimits(t *testing.T) {
	var flags []string
	Tree().Walk(nil, func(_ []string, c *cmdline.Command) {
		for _, f := range c.Flags {
			flags = append(flags, f.Name)
		}
	})
	for _, l := range cmdline.Limits() {
		if l.Flag != "" && !slices.Contains(flags, l.Flag) {
			t.Errorf("%s: there is no flag --%s", l.What, l.Flag)
		}
		if l.What == "" || l.Bound == "" || l.Then == "" {
			t.Errorf("%+v lacks What, Bound or Then", l)
		}
	}
}

// limitTests maps each limit to its test: a script, or a directory and a Go test.
var limitTests = map[string]string{
	"connecting, including TLS and the upgrade": "wire/transport/schemes TestDialFaults",

	"a handshake":                  "wire/session TestHandshakeIsBounded",
	"a call, between two messages": "cli-flags",
	"a whole call":                 "exit-status",

	"waiting for a stream's end after an error": "commands/request TestGrace",
	"the response to a cancel or unsubscribe":   "scripts/internal/faults TestSample",
	"each step of closing a connection":         "scripts/internal/faults TestSample",

	"a child's exit after its stdin is closed":                                       "net-children",
	"a child's exit after SIGTERM":                                                   "net-children",
	"reading the output of a child that has ended, if another process keeps it open": "net-children",
	"writing to stdout and stderr, after --timeout or a signal":                      "signals",
	"responses to a peer that has closed its sending side":                           "wire/peer TestOwedAnswersAreBounded",
	"a hook, except streams whose items are sent one by one":                         "hook-limits",
	"the items of a hook that share one response, for example to a POST":             "serve-odd",
	"hooks that wait for the next request of an MCP 2026-07-28 client":               "wire/dialect/mcp/modern TestMostWaiting",
	"MCP 2026-07-28 subscriptions":                                                   "wire/dialect/mcp/modern TestMostListenersAndTasks",
	"MCP 2026-07-28 tasks":                                                           "wire/dialect/mcp/modern TestMostListenersAndTasks",
	"reconnecting after a lost connection":                                           "reconnect",
	"redirects of one request":                                                       "promise-http",
	"the body of an HTTP response with an error status":                              "wire/transport/schemes TestHTTPAnswers",
	"a request for the schemas of a service (introspect)":                            "wire/dialect/introspect TestServicesThatDoNotAnswer",
	"a request for the state of a job (hotrepl)":                                     "wire/dialect/hotrepl TestAnswersAboutJobsAreBounded",
	"a message":                                                         "frame-sizes",
	"the nesting of a message":                                          "frame-line",
	"messages in one batch":                                             "wire/dialect/jsonrpc TestBatchIsBounded",
	"items of a stream that are not printed yet":                        "wire/peer TestBackpressure",
	"messages that connect has not printed yet":                         "session-load",
	"items of a stream before the response that names it":               "engine-early",
	"notifications that wait for their hook":                            "wire/peer TestNotificationsBounded",
	"responses to POST requests":                                        "wire/peer TestExchangeOfANotificationIsBounded",
	"responses that the peer does not read":                             "wire/peer TestUnreadAnswersOfOneClientAreBounded",
	"clients of a listener, from the TLS handshake on":                  "serve-limits",
	"the head of a client's HTTP request, including its TLS handshake":  "wire/transport/schemes TestLargeHeadIsRefused",
	"the body of a client's POST":                                       "wire/transport/httpserver TestSlowBody",
	"a client's TLS handshake (tls)":                                    "wire/transport/schemes TestSilentTLSClientsAreClosed",
	"a client's HTTP connection without a request":                      "wire/transport/httpserver TestListenerWaitsAreBounded",
	"a response to a POST that its client does not read":                "wire/transport/schemes TestPostCloseIsBounded",
	"sessions of an HTTP listener (such as mcp)":                        "wire/session TestMCPManySessions",
	"a session over HTTP without a request":                             "wire/transport/httpserver TestSessionIdles",
	"messages of a session over HTTP that the client can request again": "wire/transport/httpserver TestSessionsKeepNoMoreInAll",
	"requests of one client in flight":                                  "wire/peer TestRequestsInFlightAreBounded",
	"unread responses of all clients of a listener":                     "wire/peer TestUnreadAnswersOfOneClientAreBounded",
	"batch requests in the queue":                                       "wire/peer/inbound TestRequestsQueueIsBounded",
	"scomp sessions without a connection":                               "wire/dialect/scomp TestIdleSessionsAreBounded",
	"the peer's functions (scomp)":                                      "wire/dialect/scomp TestFunctionsOfThePeer",
	"jobs on a connection (ro)":                                         "wire/dialect/ro TestJobsAreForgotten",
	"calls in a session's inbox":                                        "wire/session/daemon/inbox TestInboxIsBounded",
	"the ring of a session":                                             "wire/session/daemon TestRingKeepsTheNewest",
	"the subschemas of a schema, including those that it refers to":     "wire/schema TestLargeSchemasAreRefused",
	"checking a value against a schema":                                 "wire/schema TestStepsAreCounted",
	"a jq program in a dialect file, for one message":                   "wire/dialect/page/program TestBounds",
	"a jq program on a tape, for one message":                           "tape-programs",
	"lines of a child that are not messages":                            "frame-line",
	"different warnings about one peer":                                 "commands/options TestWarningsAboutAPeerAreBounded",
}

// TestLimitsAreShown checks that each row of the table has a test.
func TestLimitsAreShown(t *testing.T) {
	for _, l := range cmdline.Limits() {
		if !isTest(t, limitTests[l.What]) {
			t.Errorf("no test shows the limit on %s: %q", l.What, limitTests[l.What])
		}
	}
}

// isTest reports whether a test exists: a script, or a directory and a Go test in it. A missing directory counts as existing,
// because a dialect may have been removed.
func isTest(t *testing.T, name string) bool {
	t.Helper()
	where, test, goTest := strings.Cut(name, " ")
	if !goTest {
		_, err := os.Stat(filepath.Join("testdata", "script", where+".txtar"))
		return err == nil && where != ""
	}
	if _, err := os.Stat(filepath.Join("..", where)); err != nil {
		return true
	}
	files, _ := filepath.Glob(filepath.Join("..", where, "*_test.go"))
	return slices.ContainsFunc(files, func(file string) bool {
		b, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(b), "func "+test+"(t *testing.T)")
	})
}
