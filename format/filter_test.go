package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// printed returns the output of a Pipeline for 60 messages, passed together or one by one.
func printed(t *testing.T, o Options, together bool) string {
	t.Helper()
	var out, said bytes.Buffer
	if o.Debug != nil {
		o.Debug = &said
	}
	p, err := New(&out, o)
	testkit.OK(t, err)
	msgs := make([]wire.Message, 60)
	for i := range msgs {
		msgs[i].Raw = fmt.Appendf(nil, `{"m":{"n":%d,"list":[%[1]d,2,1.50],"text":"t%[1]d"}}`, i)
		msgs[i].Body = msgs[i].Raw[len(`{"m":`) : len(msgs[i].Raw)-1]
	}
	msgs[7].Event = &progress.ev
	msgs[20].Body = json.RawMessage("[]")
	event := func(m *wire.Message, ev *wire.Event) error {
		if *ev = (wire.Event{Kind: wire.Data, Data: m.Body}); m.Event != nil {
			*ev = *m.Event
		}
		return nil
	}
	ahead := p.UsesWorkers(msgs)
	if together && ahead {
		p.StartWorkers(t.Context(), msgs, event)
	}
	for i := range msgs {
		var ev wire.Event
		_ = event(&msgs[i], &ev)
		stop, err := p.Print(t.Context(), &msgs[i], &ev)
		if stop || err != nil {
			fmt.Fprintf(&said, "%d: %v %v\n", i, stop, err)
			break
		}
	}
	if together && ahead {
		p.StopWorkers()
	}
	err = p.Finish()
	return fmt.Sprintf("%s%s%v %d", out.String(), said.String(), err, p.items)
}

// Output, messages and the error do not depend on the number of cores.
func TestTogetherAndOneByOnePrintTheSame(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	heavy := `[.list[]?] | add`
	nothing := int64(0)
	for name, o := range map[string]Options{
		"all":          {JQ: heavy},
		"some":         {JQ: `if .n? == 3 then empty else .list? | add, 1 end`},
		"limit":        {JQ: heavy, Count: 31},
		"until":        {JQ: heavy, Until: `.n? == 33`},
		"expect":       {JQ: heavy, Expect: []string{`.n? != 44`}},
		"expect count": {JQ: heavy, ExpectCount: &nothing},
		"raw":          {JQ: `.m.list? | add`, Raw: true},
		"events":       {JQ: `.data.list? | add`, Events: true},
		"select":       {JQ: heavy, Select: `.m.n? != 5`},
		"an error":     {JQ: `.n + 1 | if . == 41 then error("no") else . end`},
		"a type error": {JQ: `.n + 1`},
		"halt":         {JQ: `.list? | add | halt`},
		"halt_error":   {JQ: `[.list[]?] | add | if . == 43.5 then halt_error else . end`},
		"text":         {JQ: `.text? // "" | ascii_upcase`, Strings: AsText},
		"debug":        {JQ: `.list? | add | debug`, Debug: &bytes.Buffer{}},
		"pretty":       {JQ: `[.list[]?] | map(. + 1)`, Pretty: true},
	} {
		want := printed(t, o, false)
		if got := printed(t, o, true); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

// A Pipeline with enough work uses other cores.
func TestWorksAhead(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	long := strings.Repeat("x", backlogBytes/2)
	for _, c := range []struct {
		o    Options
		n    int
		raw  string
		want bool
	}{
		{Options{JQ: ".a + 1"}, backlogMessages, "{}", true},
		{Options{JQ: ".a + 1"}, backlogMessages - 1, "{}", false},
		{Options{JQ: ".a + 1"}, 2, long, true},
		{Options{JQ: ".a + 1"}, 1, long + long, false},
		{Options{JQ: ".a + 1", Select: ".b"}, 100, "{}", false},
		{Options{JQ: ".a + 1", Events: true}, 100, "{}", false},
		{Options{JQ: ".a + 1 | debug"}, 100, "{}", false},
		{Options{JQ: ".a"}, 100, "{}", false},
		{Options{}, 100, "{}", false},
	} {
		p, err := New(&bytes.Buffer{}, c.o)
		testkit.OK(t, err)
		msgs := make([]wire.Message, c.n)
		for i := range msgs {
			msgs[i].Raw = []byte(c.raw)
		}
		if p.UsesWorkers(msgs) != c.want {
			t.Errorf("%+v, %d messages of %d bytes: %v", c.o, c.n, len(c.raw), !c.want)
		}
	}
	runtime.GOMAXPROCS(1)
	p, _ := New(&bytes.Buffer{}, Options{JQ: ".a + 1"})
	if p.UsesWorkers(make([]wire.Message, 100)) {
		t.Error("workers are used with one core")
	}
}
