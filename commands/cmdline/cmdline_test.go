package cmdline

import (
	"slices"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// testFlags has the values of the test command's flags.
type testFlags struct {
	quiet   bool
	expr    string
	arg     []string
	kept    string
	timeout Duration
}

func (o *testFlags) tree() *Command {
	return &Command{Name: "rpcx", Commands: []*Command{{Name: "call", Flags: []*Flag{
		Bool("", "quiet", "s", "", &o.quiet), Text("", "jq", "q", "", &o.expr), List("", "arg", "", "`NAME VALUE`: set", &o.arg),
		OptionalEnum("", "cache", "", &o.kept, []string{"shared", "private"}), Generic("", "timeout", "", &o.timeout),
	}}}}
}

func parse(t *testing.T, words ...string) (*CommandLine, error) {
	t.Helper()
	o := &testFlags{}
	return Parse(o.tree(), words, []*Flag{Bool("", "verbose", "v", "", new(bool))}, o.tree)
}

// TestParse checks that flags are accepted anywhere before "--", bundled or with values, and that a number or a word with a leading
// blank is an argument.
func TestParse(t *testing.T) {
	for _, c := range []struct{ words, flags, args []string }{
		{[]string{"call", "e", "m", "-1"}, nil, []string{"e", "m", "-1"}},
		{[]string{"call", "e", " -x"}, nil, []string{"e", " -x"}},
		{[]string{"call", "-sq", ".a", "e"}, []string{"--quiet", "--jq=.a"}, []string{"e"}},
		{[]string{"call", "-q=.a", "e"}, []string{"--jq=.a"}, []string{"e"}},
		{[]string{"call", "e", "--arg", "n", "a=b"}, []string{"--arg=n=a=b"}, []string{"e"}},
		{[]string{"call", "--cache", "e"}, []string{"--cache=shared"}, []string{"e"}},
		{[]string{"call", "--cache=private", "e"}, []string{"--cache=private"}, []string{"e"}},
		{[]string{"-v", "call", "e"}, []string{"--verbose"}, []string{"e"}},
		{[]string{"call", "e", "--", "--quiet"}, nil, []string{"e", "--quiet"}},
	} {
		l, err := parse(t, c.words...)
		if err != nil || !slices.Equal(l.Flags, c.flags) || !slices.Equal(l.Args, c.args) {
			t.Errorf("%q: flags %q, arguments %q, %v", c.words, l.Flags, l.Args, err)
		}
	}
}

// TestParseRefuses checks that an error quotes the mistake and proposes a similar name.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		words      []string
		text, hint string
	}{
		{[]string{"cal"}, `there is no command "cal"`, "did you mean call?"},
		{[]string{"call", "-jq", ".a"}, "there is no flag -jq", "did you mean --jq?"},
		{[]string{"call", "--quite"}, "there is no flag --quite", "did you mean --quiet?"},
		{[]string{"--quiet"}, "there is no flag --quiet here", "use it with rpcx call"},
		{[]string{"call", "--quiet=no"}, "--quiet takes no value", "see rpcx call --help"},
		{[]string{"call", "--arg", "n"}, "--arg needs a name and a value", "see rpcx call --help"},
	} {
		_, err := parse(t, c.words...)
		f := wire.AsFault(err)
		if f == nil || f.Kind != wire.Usage || f.Message != c.text || f.Hint != c.hint {
			t.Errorf("%q: %v, hint %q", c.words, err, f.Hint)
		}
	}
}

// TestRewrite checks that a fix keeps the flags of the typed line, and that rpcx proposes none that would contain a secret.
func TestRewrite(t *testing.T) {
	l, err := parse(t, "call", "-q", ".a", "ws://h/", "ad")
	testkit.OK(t, err)
	if got := l.WithArgs([]string{"ws://h/", "add"}); !slices.Equal(got, []string{"rpcx", "call", "ws://h/", "add", "--jq=.a"}) {
		t.Errorf("%q", got)
	}
	if got := l.WithArgs([]string{"ws://h/", "-x"}); !slices.Equal(got, []string{"rpcx", "call", "--jq=.a", "--", "ws://h/", "-x"}) {
		t.Errorf("%q", got)
	}
	if got := l.WithArgs([]string{"ws://h/", "ad"}); got != nil {
		t.Errorf("%q is proposed although it is the typed line", got)
	}
	if !l.Has("jq") || l.Has("quiet") {
		t.Error("Has reports the wrong flags")
	}
	for _, args := range [][]string{{"ws://u:secret@h/"}, {"e", "password=x"}} {
		if got := l.WithArgs(args); got != nil {
			t.Errorf("%q is proposed although it contains a secret", got)
		}
	}
	for name, want := range map[string]bool{"a.b/c:d-e_1": true, "": false, "-x": false, "a b": false, "a\x1b": false} {
		if IsSafeName(name) != want {
			t.Errorf("IsSafeName(%q) is %t", name, !want)
		}
	}
}

func setTo(f *Flag, text string) error { return f.Set(f.Name, text) }

// TestFlagValues checks that durations default to seconds and that sizes have binary units.
func TestFlagValues(t *testing.T) {
	for text, want := range map[string]time.Duration{"10": 10 * time.Second, "1m30s": 90 * time.Second, "0": time.Duration(unbounded)} {
		var d Duration
		if err := d.Set(text); err != nil || time.Duration(d) != want {
			t.Errorf("%s is %v, %v", text, time.Duration(d), err)
		}
	}
	var d Duration
	if d.Or(time.Minute) != time.Minute || setTo(PositiveDuration("", "d", "", &d), "0") == nil || d.Set("-1s") == nil {
		t.Error("Duration accepts an invalid value, or Or returns the wrong one")
	}
	for text, want := range map[string]Size{"1000": 1000, "64K": 64 << 10, "2MiB": 2 << 20, "1g": 1 << 30} {
		var s Size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%s is %d, %v", text, s, err)
		}
	}
	var n int64
	number := Number("", "n", "", 1, &n)
	if setTo(number, "0") == nil || setTo(number, "7") != nil || n != 7 {
		t.Error("Number accepts a value below its minimum, or rejects a valid one")
	}
}
