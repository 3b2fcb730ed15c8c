package scan

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestObject(t *testing.T) {
	o := AppendObject([]byte("before "))
	o.Text("a", "x\"\n")
	o.Add("none", nil)
	o.Add("b", []byte(`[1, 2]`))
	o.Compact("c", []byte("[1,\n 2]"))
	o.SomeText("empty", "")
	o.Int("d", -7)
	o.Bool("e", true)
	o.Value("f", map[string]string{"<": "&"})
	o.Value("none", func() {})
	o.Member([]byte(`\u0067`), []byte("1"))
	o.CompactMember([]byte("h"), []byte("{\n}"))
	o.Members([]byte(`{"i":1,"j":2,"\u006b":3}`), "j", "k")
	o.Named([]byte(`{"m":1,"j":2,"\u006e": [ ]}`), "j")
	o.Inside([]byte(` { "l" : 1 } `))
	o.Inside([]byte(`{}`))
	o.Inside([]byte(`[1]`))
	want := `before {"a":"x\"\n","b":[1, 2],"c":[1,2],"d":-7,"e":true,"f":{"<":"&"},"\u0067":1,"h":{},"i":1,"m":1,"n":[ ],"l" : 1}`
	if got := string(o.End()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestObjectAppend(t *testing.T) {
	var o Object
	err := o.Append("a", func(b []byte) ([]byte, error) { return append(b, "[]"...), nil })
	if got := string(o.End()); err != nil || got != `{"a":[]}` {
		t.Errorf("%s, %v", got, err)
	}
	bad := errors.New("no")
	if err := o.Append("b", func([]byte) ([]byte, error) { return nil, bad }); err != bad {
		t.Error(err)
	}
}

func TestEmptyObjectAndArray(t *testing.T) {
	var o Object
	var a Array
	if o.EndOrNil() != nil || a.EndOrNil() != nil || !o.Empty() || string(o.End()) != "{}" || string(a.End()) != "[]" {
		t.Error("an object without members is not empty")
	}
	if got := string(ArrayOf[json.RawMessage]()); got != "[]" {
		t.Error(got)
	}
}

func TestArray(t *testing.T) {
	a := AppendArray([]byte("x"))
	a.Add([]byte("1"))
	a.Text("<")
	a.Compact([]byte("{\r\n}"))
	if got := string(a.End()); got != `x[1,"<",{}]` {
		t.Error(got)
	}
	if got := string(Pair("a", ArrayOf([]byte("1"), []byte("2")))); got != `{"a":[1,2]}` {
		t.Error(got)
	}
}

func TestWithout(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1, "b":2,"\u0061":3}`: `{"b":2}`,
		`{ "b" : 2 }`:               `{ "b" : 2 }`,
		`{"a":1}`:                   `{}`,
		`[1]`:                       `[1]`,
	} {
		if got := string(Without([]byte(in), "a", "c")); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

func TestIterators(t *testing.T) {
	var raw, named string
	for key, val := range Members([]byte(`{"a":1,"\u0062":[2],"c":3}`)) {
		raw += string(key) + "=" + string(val) + " "
		if string(key) == `\u0062` {
			break
		}
	}
	for name := range Named([]byte(`{"\u0062":1,"c":2}`)) {
		named += name
	}
	if raw != `a=1 \u0062=[2] ` || named != "bc" {
		t.Errorf("%s, %s", raw, named)
	}
	if list := List([]byte(`[1, "x"]`)); len(list) != 2 || string(list[1]) != `"x"` {
		t.Error(list)
	}
	for val, want := range map[string]int{`{}`: 0, `{"a":1,"b":2}`: 2, `[1,2,3]`: 3, `"a"`: 0} {
		if got := Count([]byte(val)); got != want {
			t.Errorf("Count(%s) is %d", val, got)
		}
	}
	if string(First([]byte(`[1,2]`))) != "1" || First([]byte(`[]`)) != nil || Only([]byte(`[1,2]`)) != nil || string(Only([]byte(`[7]`))) != "7" {
		t.Error("First or Only returns another element")
	}
}

// Building in a sufficient buffer allocates nothing, and reading allocates nothing.
func TestBuildAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 256)
	obj := []byte(`{"a":1,"b":[1,2]}`)
	n := testing.AllocsPerRun(100, func() {
		o := AppendObject(buf)
		o.Text("method", "eth_subscribe")
		o.Int("id", 12345)
		for key, val := range Members(obj) {
			o.CompactMember(key, val)
		}
		for range Elements(Get(obj, "b")) {
			o.Bool("x", true)
		}
		o.End()
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCursorInTheMiddle(t *testing.T) {
	b := []byte(`[{"a":{"b":1},"c":2}] behind`)
	all := ReadArrayAt(b, 0, 9)
	if _, ok := all.NextKey(); !ok {
		t.Fatal(all.Err())
	}
	o, ok := all.Object()
	if !ok {
		t.Fatal("no object")
	}
	key, _ := o.NextKey()
	in, ok := o.Object()
	if !ok || string(key) != "a" {
		t.Fatalf("%q contains no object", key)
	}
	for _, _, ok := in.Next(); ok; _, _, ok = in.Next() {
	}
	if got := string(o.Skip(&in)); got != `{"b":1}` {
		t.Error(got)
	}
	key, _ = o.NextKey()
	if got := string(key) + string(o.Value()); got != "c2" {
		t.Error(got)
	}
	if _, ok := o.NextKey(); ok || o.Err() != nil {
		t.Error("the cursor continues, or has an error:", o.Err())
	}
	if all.SkipTo(o.Pos()); string(b[all.Pos():all.Pos()+1]) != "]" {
		t.Error("the cursor stops at the wrong place")
	}
	if _, ok := all.NextKey(); ok || all.Err() != nil || string(b[all.Pos():]) != " behind" {
		t.Error("the cursor continues, or has an error:", all.Err())
	}
}
