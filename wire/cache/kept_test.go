package cache

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rpcx/wire/catalog"
	"rpcx/wire/testkit"
)

// The store keeps each recent endpoint once and a bounded number of them, unless history is off.
func TestRecent(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv(HistoryVariable, "")
	if got := Recent(); len(got) > 0 {
		t.Errorf("%q", got)
	}
	for _, typed := range []string{"a", "b", "a", "a", "c", "x\ny", "x\ty"} {
		Remember(typed)
	}
	testkit.Expect(t, "the order", strings.Join(Recent(), " "), "c a b")
	t.Setenv(HistoryVariable, "off")
	Remember("d")
	t.Setenv(HistoryVariable, "on")
	Remember("e")
	testkit.Expect(t, "the order", strings.Join(Recent(), " "), "e c a b")
	for i := range maxRecent - 4 {
		Remember(fmt.Sprint(i))
	}
	if got := Recent(); len(got) != maxRecent || got[maxRecent-1] != "b" {
		t.Errorf("%d, the last %q", len(got), got[len(got)-1])
	}
	Remember("f")
	if got := Recent(); len(got) != maxRecent || got[0] != "f" || got[maxRecent-1] != "a" {
		t.Errorf("%d, %q to %q", len(got), got[0], got[len(got)-1])
	}
}

// A catalog yields these words for completion.
func TestOutlines(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	safe := func(s string) bool { return !strings.ContainsAny(s, "\t\n=|! ") }
	c := &catalog.Catalog{Methods: []catalog.Method{
		{Name: "a", Description: " Does\n  it. " + strings.Repeat("é", 60), Params: json.RawMessage(`{"properties":{"x":{"enum":["v","w!",7,"u"]},"y!":{},"z":{}}}`)},
		{Name: "b!"},
		{Name: "c", Description: "\xffok"},
	}}
	all := Outlines(c, safe)
	testkit.Expect(t, "outlines", fmt.Sprintf("%q", all), `[{"a" "Does it. `+strings.Repeat("é", 60-len("Does it. "))+`" [{"x" ["v" "u"]} {"z" []}]} {"c" "ok" []}]`)
	for _, typed := range []string{"ws://h/", "exec:x", "unix:s", "ipc:x"} {
		if got := KeptOutlines(typed, ""); got != nil {
			t.Errorf("%s: %q", typed, got)
		}
		KeepOutlines(typed, "", all, catalog.Keep{})
		testkit.Expect(t, typed, fmt.Sprintf("%q", KeptOutlines(typed, "")), fmt.Sprintf("%q", all))
		if got := KeptOutlines(typed, "mcp"); got != nil {
			t.Errorf("%s in another dialect: %q", typed, got)
		}
	}
	t.Chdir(t.TempDir()) // in another directory, a relative path identifies another peer
	for typed, want := range map[string]bool{"ws://h/": true, "exec:x": false, "unix:s": false, "ipc:x": false} {
		testkit.Expect(t, typed+" elsewhere", KeptOutlines(typed, "") != nil, want)
	}
	KeepOutlines("", "", all, catalog.Keep{})
	if got := KeptOutlines("", ""); got != nil {
		t.Errorf("%q", got)
	}
	if file := outlineFile("bad", ""); Write(file, []byte("one\ntwo"), time.Now().Add(time.Hour)) != nil || KeptOutlines("bad", "") != nil {
		t.Errorf("%q", KeptOutlines("bad", ""))
	}
}

// The peer's ttl bounds how long outlines are stored. Private ones are not stored.
func TestKeepOfOutlines(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	age := func(d time.Duration) *time.Duration { return &d }
	for name, tt := range map[string]struct {
		keep   catalog.Keep
		stored bool
	}{
		"no limit":          {catalog.Keep{}, true},
		"a minute":          {catalog.Keep{Age: age(time.Minute)}, true},
		"no time":           {catalog.Keep{Age: age(0)}, false},
		"private":           {catalog.Keep{Private: true}, false},
		"private, a minute": {catalog.Keep{Age: age(time.Minute), Private: true}, false},
		"over":              {catalog.Keep{Age: age(time.Nanosecond)}, false},
	} {
		KeepOutlines("ws://h/", "", []Outline{{Method: "earlier"}}, catalog.Keep{})
		KeepOutlines("ws://h/", "", []Outline{{Method: "m"}}, tt.keep)
		if got := names(KeptOutlines("ws://h/", "")); (len(got) == 1 && got[0] == "m") != tt.stored || len(got) > 1 || !tt.stored && got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func names(all []Outline) (list []string) {
	for _, o := range all {
		list = append(list, o.Method)
	}
	return list
}
