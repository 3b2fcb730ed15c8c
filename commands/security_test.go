package commands

import (
	"strings"
	"testing"

	"rpcx/commands/help"
)

// securityTests maps each line of rpcx-security(7) to its tests.
var securityTests = map[string][]string{
	"command lines":                  {"hook-hostile"},
	"variables":                      {"hook-hostile"},
	"described commands":             {"hook-run"},
	"directories of hooks":           {"hook-run", "wire/hook TestFolders"},
	"proposed commands":              {"hook-hostile", "out-fixes", "commands TestFixesAreRun"},
	"files read":                     {"wire/schema TestUnusableSchemas", "wire/schema TestOpenKeepsToTheFolder", "tape-programs", "wire/dialect/page/program TestBounds"},
	"files written":                  {"hook-hostile", "hotrepl-artifacts"},
	"names of saved files":           {"commands/artifacts TestOthersAreSaved", "commands/artifacts TestNothingIsOverwritten"},
	"files that others can write to": {"wire/trust TestOthersCanWrite", "hook-run", "page-own", "wire/profile TestOnlyFilesAreRead"},
	"readers of stored data":         {"session-folder", "security"},
	"connections":                    {"promise-http", "wire/transport/schemes TestHTTPRedirectElsewhere", "wire/transport/schemes TestWSRedirect"},
	"logins":                         {"auth-hostile", "auth-fixes", "wire/oauth TestPrivateAddresses"},
	"detection":                      {"net-find"},
	"clients of a listener":          {"serve-odd", "wire/transport/schemes TestListenerGuard"},
	"answered calls":                 {"serve-policy", "net-bridge"},
	"memory and time":                {"commands TestLimitsAreShown"},
	"processes":                      {"hook-limits", "hook-background"},
	"programs":                       {"tape-programs", "page-own", "wire/schema TestStepsAreCounted"},
	"escapes":                        {"out-terminal", "hook-hostile"},
	"the prompt":                     {"format TestConsoleAboveAPrompt"},
	"secrets on command lines":       {"out-secrets", "cli-flags"},
	"secrets in output":              {"out-secrets", "out-secrets-echo", "out-trace", "record", "session-secrets", "wire/redact TestJSON"},
	"secrets in hooks":               {"security"},
	"login tokens":                   {"auth-code", "auth-hostile", "auth-bridge", "wire/oauth TestCovers"},
	"browsers":                       {"auth-clients", "auth-hostile"},
	"TLS":                            {"wire/transport/schemes TestTLS", "net-plain"},
}

// TestSecurityIsShown checks that each line of rpcx-security(7) has tests.
func TestSecurityIsShown(t *testing.T) {
	topic := help.TopicNamed("security")
	if topic == nil {
		t.Fatal("there is no topic security")
	}
	said := map[string]bool{}
	for line := range strings.Lines(topic.Text) {
		what, _, ok := strings.Cut(strings.TrimPrefix(line, "* "), " -- ")
		if !ok || !strings.HasPrefix(line, "* ") {
			continue
		}
		said[what] = true
		if len(securityTests[what]) == 0 {
			t.Errorf("no test shows: %s", line)
		}
		for _, name := range securityTests[what] {
			if !isTest(t, name) {
				t.Errorf("%s: there is no test %s", what, name)
			}
		}
	}
	for what := range securityTests {
		if !said[what] {
			t.Errorf("rpcx-security(7) has no line about %s", what)
		}
	}
}
