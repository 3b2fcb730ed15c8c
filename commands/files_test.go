package commands

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
)

// streams is the script command `streams FILE PROGRAM ARGS…`. It runs the program three times: unchanged, with the descriptor of a
// pipe as FILE (a shell's process substitution), and with - (stdin) as FILE. Each run must succeed and print the same.
func streams(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: streams FILE PROGRAM ARGS...")
	}
	file, words := args[0], args[1:]
	ts.Check(ts.Exec(words[0], words[1:]...))
	want := ts.ReadFile("stdout")
	for name, script := range map[string]string{
		"/dev/fd/3": `cat "$0" | (exec 3<&0 </dev/null; exec "$@")`,
		"-":         `cat "$0" | "$@"`,
	} {
		i := 1 + slices.IndexFunc(words[1:], func(word string) bool { return naming(word, file, name) != word })
		if i == 0 {
			ts.Fatalf("no argument names %s", file)
		}
		streamed := slices.Clone(words)
		streamed[i] = naming(words[i], file, name)
		ts.Check(ts.Exec("sh", slices.Concat([]string{"-c", script, file}, streamed)...))
		shown := strings.NewReplacer(name+":", file+":", name+"#", file+"#", name+" ", file+" ", name+`"`, file+`"`, "stdin", file)
		if got := shown.Replace(ts.ReadFile("stdout")); got != want {
			ts.Fatalf("%q prints\n%s\nand %q\n%s", words, want, streamed, got)
		}
	}
}

// naming returns word with name in place of file: alone, after @, = or :, or before #.
func naming(word, file, name string) string {
	return regexp.MustCompile(`(^|[@=:])`+regexp.QuoteMeta(file)+`(#|$)`).ReplaceAllString(word, "${1}"+name+"${2}")
}

// notStreams maps flags whose value names a file to the reason why cli-files does not pass a stream as that file.
var notStreams = map[string]string{
	"listening":         "rpcx writes the file",
	"output":            "rpcx writes the file",
	"record":            "rpcx writes the file",
	"report":            "rpcx writes the file",
	"connect --catalog": "it is for the prompt, which reads keys from stdin; the catalog is read as elsewhere",
}

// TestEveryFileIsAlsoAStream checks that the script cli-files passes a process substitution and - to each flag and argument that
// names a file. Flags of the same group count as one.
func TestEveryFileIsAlsoAStream(t *testing.T) {
	var tried []string
	for line := range strings.Lines(read(t, "testdata/script/cli-files.txtar")) {
		if words := strings.Fields(line); len(words) > 2 && words[0] == "streams" {
			tried = append(tried, line)
		}
	}
	trial := func(command, flag string) bool {
		return slices.ContainsFunc(tried, func(line string) bool {
			words := strings.Fields(strings.ReplaceAll(line, "'", ""))
			i := slices.IndexFunc(words, func(w string) bool { return w == flag || len(flag) > 2 && strings.HasPrefix(w, flag+"=") })
			via := map[string]string{"sh session.sh": "connect", "sh at.sh": "call"}
			runs := strings.Join(words[2:], " ")
			for sh, by := range via {
				runs = strings.Replace(runs, sh, "rpcx "+by, 1)
			}
			return i >= 0 && i+1 < len(words) && naming(words[i+1], words[1], "") != words[i+1] && strings.HasPrefix(runs, "rpcx "+command+" ")
		})
	}
	type form struct{ name, usage string }
	commands := map[form][]string{}
	tree(&env.Env{}).Walk(nil, func(path []string, c *cmdline.Command) {
		for _, f := range c.Flags {
			if names := regexp.MustCompile(`\b(FILE|TAPE|CATALOG|PATH)\b`); names.MatchString(f.Arg) || strings.Contains(f.Usage, "@FILE") {
				form := form{f.Name, f.Usage}
				commands[form] = append(commands[form], strings.Join(path, " "))
			}
		}
	})
	if len(commands) < 20 {
		t.Errorf("only %d flags name files", len(commands))
	}
	for form, of := range commands {
		if notStreams[form.name] != "" || notStreams[of[0]+" --"+form.name] != "" {
			continue
		}
		if !slices.ContainsFunc(of, func(command string) bool {
			return trial(command, "--"+form.name) || trial(command, "-"+strings.ToUpper(form.name[:1]))
		}) {
			t.Errorf("cli-files has no line `streams FILE rpcx %s … --%s FILE`", of[0], form.name)
		}
	}
}
