package params

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// files stands in for the file system.
func files(name string) ([]byte, error) {
	content, ok := map[string]string{
		"note.txt":   "two\nlines\n",
		"item.json":  "{\n  \"sku\": \"tea\",\n  \"qty\": 1.10\n}\n",
		"bad.json":   "{\n  \"sku\" \"tea\"}",
		"latin1.txt": "caf\xe9",
	}[name]
	if !ok {
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	}
	return []byte(content), nil
}

func parse(stdin string, args ...string) (Result, error) {
	return Parse(context.Background(), args, Options{Stdin: strings.NewReader(stdin), ReadFile: files, Funcs: true})
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args  []string
		stdin string
		want  string
	}{
		{nil, "", ``},
		{[]string{`id=o_001`}, "", `{"id":"o_001"}`},
		{[]string{`a=1`, `b:=1`, `c:=12345678901234567890`, `d:=1.10`, `e:=1e1000`}, "", `{"a":"1","b":1,"c":12345678901234567890,"d":1.10,"e":1e1000}`},
		{[]string{`a=`}, "", `{"a":""}`},
		{[]string{`a==b`}, "", `{"a":"=b"}`},
		{[]string{`a= x "y" \n`}, "", `{"a":" x \"y\" \\n"}`},
		{[]string{`a=<b>&ü`}, "", `{"a":"<b>&ü"}`},
		{[]string{`url=http://x/?a:=b`}, "", `{"url":"http://x/?a:=b"}`},
		{[]string{`$ref=x`, `_x=y`}, "", `{"$ref":"x","_x":"y"}`},
		{[]string{`z=1`, `a=2`, `m=3`}, "", `{"z":"1","a":"2","m":"3"}`},
		{[]string{`a.b=1`, `c=2`, `a.d=3`}, "", `{"a":{"b":"1","d":"3"},"c":"2"}`},
		{[]string{`a.b.c:=[1, 2]`}, "", `{"a":{"b":{"c":[1, 2]}}}`},
		{[]string{`a[]=1`, `a[]:=2`}, "", `{"a":["1",2]}`},
		{[]string{`a[].b=1`, `a[].b=2`}, "", `{"a":[{"b":"1"},{"b":"2"}]}`},
		{[]string{`a[][]=1`}, "", `{"a":[["1"]]}`},
		{[]string{`a\.b=1`, `c\[]=2`, `d\e=3`}, "", `{"a.b":"1","c[]":"2","d\\e":"3"}`},
		{[]string{`a@=note.txt`}, "", `{"a":"two\nlines\n"}`},
		{[]string{`a:@=item.json`}, "", `{"a":{"sku":"tea","qty":1.10}}`},
		{[]string{`a@=-`}, "x\n", `{"a":"x\n"}`},
		{[]string{`a:@=-`, `b=1`}, " [1]\n", `{"a":[1],"b":"1"}`},
		{[]string{`{"a" : 1}`}, "", `{"a" : 1}`},
		{[]string{`[1, 2]`}, "", `[1, 2]`},
		{[]string{`[1, 2]`, `3`}, "", `[[1, 2],3]`},
		{[]string{`"newHeads"`}, "", `["newHeads"]`},
		{[]string{`-1`}, "", `[-1]`},
		{[]string{`null`}, "", `[null]`},
		{[]string{`1`, `{"a":2}`, `[3]`, `"x"`}, "", `[1,{"a":2},[3],"x"]`},
		{[]string{`-`}, "{\n \"a\": 1\n}\n", `{"a":1}`},
		{[]string{`-`}, "[1 , 2]\n", `[1 , 2]`},
		{[]string{`-`, `b=2`}, `{"a":1}`, `{"a":1,"b":"2"}`},
		{[]string{`b=2`, `{"a": 1}`}, "", `{"a":1,"b":"2"}`},
		{[]string{`{"a": {"x": 1.10}, "k":[1]}`, `a.y=2`, `k[]=3`}, "", `{"a":{"x":1.10,"y":"2"},"k":[1,"3"]}`},
		{[]string{`{"a":1,"b":2}`, `a=3`}, "", `{"a":"3","b":2}`},
		{[]string{`{"\u0061":1}`, `a=3`}, "", `{"\u0061":"3"}`},
		{[]string{`{}`}, "", `{}`},
		{[]string{`{}`, `a=1`}, "", `{"a":"1"}`},
		{[]string{`cb@on=done`, `x.y[]@on=more`}, "", `{"cb":null,"x":{"y":[null]}}`},
	} {
		r, err := parse(c.stdin, c.args...)
		if err != nil || string(r.Params) != c.want {
			t.Errorf("%q:\n got %s, %v\nwant %s", c.args, r.Params, err, c.want)
		}
	}
}

func TestFunctionsArePointers(t *testing.T) {
	r, err := parse("", `cb@on=done`, `x.a/b[]=1`, `x.a/b[]@on=more`)
	want := map[string]string{"/cb": "done", "/x/a~1b/1": "more"}
	if err != nil || !maps.Equal(r.Funcs, want) {
		t.Errorf("got %v, %v", r.Funcs, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		args    []string
		stdin   string
		message string
		hint    string
		better  []string
	}{
		{[]string{`hello`}, "", `parameter "hello" is neither key=value nor JSON`, `write '"hello"' for text`, []string{`"hello"`}},
		{[]string{`1`, `it's`}, "", `parameter "it's" is neither`, `write '"it'\''s"' for text`, []string{`1`, `"it's"`}},
		{[]string{`hello`, `it's`, `1`}, "", `parameter "hello" is neither`, ``, []string{`"hello"`, `"it's"`, `1`}},
		{[]string{`a:=x`, `b=1`, `c:=y`}, "", `parameter "a:=x" is not JSON`, ``, []string{`a=x`, `b=1`, `c=y`}},
		{[]string{`hello`, `b=1`}, "", `parameter "hello" is neither`, ``, nil},
		{[]string{`password:=s3cret`}, "", `parameter "password:=…" is not JSON`, `write 'password=…' for text`, []string{`password=s3cret`}},
		{[]string{`{a:1}`}, "", `is neither key=value nor JSON`, `did you mean '{"a":1}'?`, []string{`{"a":1}`}},
		{[]string{`a:={"b": o_001}`}, "", `"a:={\"b\": o_001}" is not JSON`, ``, []string{`a:={"b": "o_001"}`}},
		{[]string{`[1,2`}, "", `is neither key=value nor JSON`, ``, nil},
		{[]string{`a:b=c`}, "", `is neither key=value nor JSON`, `'{"a:b":…}' has this key`, nil},
		{[]string{``}, "", `parameter "" is neither key=value nor JSON`, `a shell variable may be unset; '""' is the empty string`, nil},
		{[]string{`1 2`}, "", `is neither`, ``, []string{`"1 2"`}},
		{[]string{`id:=o_001`}, "", `parameter "id:=o_001" is not JSON`, `write id=o_001 for text`, []string{`id=o_001`}},
		{[]string{`a:=`}, "", `"a:=" is not JSON`, `a shell variable may be unset; write a= for text`, nil},
		{[]string{`a:=01`}, "", `"a:=01" is not JSON`, `write a=01 for text`, nil},
		{[]string{`a:=True`}, "", `"a:=True" is not JSON`, `true, false and null`, []string{`a:=true`}},
		{[]string{`id`, `=`, `x`}, "", `parameter "id" is neither`, `KEY=VALUE or JSON must be a single word`, []string{`id=x`}},
		{[]string{`id=`, `x`, `n:=1`}, "", `parameter "x" is neither`, `KEY=VALUE or JSON must be a single word`, []string{`id=x`, `n:=1`}},
		{[]string{`id`, `=x`}, "", `parameter "id" is neither`, `KEY=VALUE or JSON must be a single word`, []string{`id=x`}},
		{[]string{`id:`, `x`}, "", `parameter "id:" is neither`, `KEY=VALUE or JSON must be a single word`, []string{`id=x`}},
		{[]string{`id:x`}, "", `parameter "id:x" is neither`, `did you mean id=x?`, nil},
		{[]string{`password:s3cret`}, "", ``, `did you mean 'password=…'?`, nil},
		{[]string{`@p.json`}, "", `parameter "@p.json" is neither`, `(- < p.json)`, nil},
		{[]string{`my key=1`}, "", `parameter "my key=1" is neither`, `'{"my key":…}' has this key`, nil},
		{[]string{`[1,`, `2]`}, "", `parameter "[1," is neither`, `single word`, []string{`[1, 2]`}},
		{[]string{`a:=[1,`, `2]`, `b=1`}, "", `parameter "2]" is neither`, `single word`, []string{`a:=[1, 2]`, `b=1`}},
		{[]string{`{id:`, `x}`}, "", `parameter "{id:" is neither`, `single word`, []string{`{"id": "x"}`}},
		{[]string{`http://h/`}, "", `parameter "http://h/" is neither`, `for text`, []string{`"http://h/"`}},
		{[]string{`a=1`, `a=2`}, "", `a was already set by "a=1"`, ``, nil},
		{[]string{`a=1`, `a.b=2`}, "", `"a.b=2": its value was already set by "a=1"`, ``, nil},
		{[]string{`a.b=1`, `a=2`}, "", `a was already set by "a.b=1"`, ``, nil},
		{[]string{`a.b=1`, `a[]=2`}, "", `continues inside an object because of "a.b=1"`, ``, nil},
		{[]string{`a:=[1]`, `a[]=2`}, "", `its value was already set by "a:=[1]"`, ``, nil},
		{[]string{`{"a":1}`, `a.b=2`}, "", `continues inside a plain value`, ``, nil},
		{[]string{`{"a":1}`, `a=2`, `a=3`}, "", `a was already set by "a=2"`, ``, nil},
		{[]string{`[1]`, `a=2`}, "", `"[1]" is not an object`, `all by position`, nil},
		{[]string{`5`, `a=2`}, "", `"5" is not an object`, ``, nil},
		{[]string{`{}`, `{}`, `a=2`}, "", `merged into an object`, ``, nil},
		{[]string{`a..b=1`}, "", `empty name`, ``, nil},
		{[]string{`a.=1`}, "", `empty name`, ``, nil},
		{[]string{`a[0]=1`}, "", `only [] may follow a name`, ``, nil},
		{[]string{`a[]b=1`}, "", `a dot must follow []`, ``, nil},
		{[]string{`a@=gone.txt`}, "", `open gone.txt: file does not exist`, ``, nil},
		{[]string{`a@=`}, "", `names no file`, ``, nil},
		{[]string{`a:@=bad.json`}, "", `bad.json is not JSON: line 2, column 9`, ``, nil},
		{[]string{`a@=latin1.txt`}, "", `is not UTF-8`, ``, nil},
		{[]string{"a=\xff"}, "", `is not UTF-8`, ``, nil},
		{[]string{"a\xff@on=x"}, "", `is not UTF-8`, ``, nil},
		{[]string{"\"\xff\""}, "", `is not UTF-8`, ``, nil},
		{[]string{`-`}, ``, `params from stdin: it is empty`, ``, nil},
		{[]string{`-`}, `5`, `must be an object or an array`, ``, nil},
		{[]string{`-`}, `{} {}`, `params from stdin: `, ``, nil},
		{[]string{`-`, `1`}, `{}`, `cannot be combined with another bare argument`, ``, nil},
		{[]string{`-`, `a@=-`}, `{}`, `stdin was already read for "-"`, ``, nil},
		{[]string{`a@=-`, `b@=-`}, `{}`, `stdin was already read for "a@=-"`, ``, nil},
		{[]string{`cb@on=`}, ``, `names no hook`, ``, nil},
	} {
		_, err := parse(c.stdin, c.args...)
		f := wire.AsFault(err)
		if f == nil || f.Kind != wire.Usage {
			t.Errorf("%q: %v is not a usage fault", c.args, err)
			continue
		}
		if !strings.Contains(f.Message, c.message) || !strings.Contains(f.Hint, c.hint) {
			t.Errorf("%q:\n got %s [%s]\nwant %s [%s]", c.args, f.Message, f.Hint, c.message, c.hint)
		}
		var ae *ArgError
		if !errors.As(err, &ae) {
			t.Errorf("%q: no ArgError", c.args)
		} else if !slices.Equal(ae.Args, c.better) {
			t.Errorf("%q: proposes %q, want %q", c.args, ae.Args, c.better)
		} else if c.better != nil {
			if _, err := parse("", c.better...); err != nil {
				t.Errorf("%q: the proposed arguments %q are rejected: %v", c.args, c.better, err)
			}
		}
	}
}

func TestFunctionsNeedADialectThatHasThem(t *testing.T) {
	_, err := Parse(context.Background(), []string{"cb@on=done"}, Options{})
	if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage || !strings.Contains(f.Message, "no function values") {
		t.Error(err)
	}
}

func TestStdinIsReadOnlyWhenAskedFor(t *testing.T) {
	for _, args := range [][]string{{"a=-"}, {"-", "1"}, {`"-"`}} {
		_, _ = Parse(context.Background(), args, Options{Stdin: failing{t}})
	}
}

type failing struct{ t *testing.T }

func (f failing) Read([]byte) (int, error) {
	f.t.Error("stdin was read")
	return 0, io.EOF
}

// Thousands of words, such as a list of ids, take time and memory in proportion to their number.
func TestManyWordsAreCheap(t *testing.T) {
	var args []string
	for i := range 5000 {
		args = append(args, "ids[]:="+strconv.Itoa(i))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Parse(t.Context(), args, Options{})
	runtime.ReadMemStats(&after)
	if err != nil || scan.Count(scan.Get(r.Params, "ids")) != len(args) {
		t.Fatal(err, len(r.Params))
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 30<<20 {
		t.Errorf("%d MB for %d words", used>>20, len(args))
	}
}

// TestWords checks which words read stdin, read files and depend on a schema.
func TestWords(t *testing.T) {
	for arg, want := range map[string][3]bool{
		"-": {true, true, false}, "a@=-": {true, true, false}, "a:@=-": {true, true, false}, "a=-": {false, false, true}, "a:=-": {},
		"a@=f": {false, true, false}, "a:@=f": {false, true, false}, "a@on=f": {false, true, false}, "a@on=-": {false, true, false}, "f": {},
	} {
		if got := [3]bool{WantStdin([]string{arg}), ReadsFiles([]string{arg}), IsTyped(arg)}; got != want {
			t.Errorf("%s: %v, want %v", arg, got, want)
		}
	}
}
