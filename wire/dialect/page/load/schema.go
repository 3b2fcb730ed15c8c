package load

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/toml"
)

// A Member is a member that a dialect file can have.
type Member struct {
	Path    string // dotted; "[]" stands for the tables of an array, and "*" for any name
	Kind    string // the kind of its value, such as "a string" or "a program"
	Choices []string
	Says    string
}

// Table returns all members that a dialect file can have, in the order of the manual. It lists members that several tables share
// only once.
func Table() []Member { return members("", reflect.TypeFor[Page](), map[reflect.Type]string{}) }

func members(prefix string, t reflect.Type, listed map[reflect.Type]string) (all []Member) {
	for i := range t.NumField() {
		f := t.Field(i)
		path := prefix + f.Tag.Get("toml")
		kind := kindOf(f.Type)
		m := Member{Path: path, Kind: kind.says, Says: f.Tag.Get("says")}
		if of := f.Tag.Get("of"); of != "" {
			m.Choices = strings.Split(of, "|")
		}
		first := listed[kind.below]
		if first != "" {
			m.Says += ". The table has the same keys as " + first
		}
		all = append(all, m)
		if kind.below != nil && first == "" {
			listed[kind.below] = path
			suffix := map[reflect.Kind]string{reflect.Slice: "[]", reflect.Map: ".*"}[f.Type.Kind()]
			all = append(all, members(path+suffix+".", kind.below, listed)...)
		}
	}
	return all
}

// A kind is the kind of a member's value.
type kind struct {
	says  string
	below reflect.Type // the type of the members below it, or nil
	fits  func(k toml.Key) bool
}

// kindOf returns the kind of a member of type t.
func kindOf(t reflect.Type) kind {
	is := func(want toml.Kind) func(toml.Key) bool { return func(k toml.Key) bool { return k.Kind == want } }
	all := func(k toml.Key, want toml.Kind) bool {
		return k.Kind == toml.Array && !slices.ContainsFunc(k.Items, func(i toml.Kind) bool { return i != want })
	}
	if t == reflect.TypeFor[Prog]() {
		return kind{"a program", nil, is(toml.Text)}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.String:
		return kind{"a string", nil, is(toml.Text)}
	case reflect.Bool:
		return kind{"true or false", nil, is(toml.Bool)}
	case reflect.Int:
		return kind{"an integer", nil, is(toml.Number)}
	case reflect.Struct:
		return kind{"a table", t, is(toml.Table)}
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.Struct:
			return kind{"an array of tables", t.Elem(), func(k toml.Key) bool { return all(k, toml.Table) }}
		case reflect.Interface:
			return kind{"an array of values", nil, is(toml.Array)}
		}
		return kind{"a string or an array of strings", nil, func(k toml.Key) bool { return k.Kind == toml.Text || all(k, toml.Text) }}
	case reflect.Map:
		each := kindOf(t.Elem())
		if each.below == nil {
			return kind{"a table of NAME = " + each.says, nil, is(toml.Table)}
		}
		return kind{"a table of tables", each.below, is(toml.Table)}
	}
	return kind{"a value", nil, func(toml.Key) bool { return true }}
}

// checkKey returns an error for a key in file that is unknown or whose value has the wrong kind.
func checkKey(file string, k toml.Key) error {
	t := reflect.TypeFor[Page]()
	for i, part := range k.Path {
		if t.Kind() == reflect.Pointer && t != reflect.TypeFor[Prog]() {
			t = t.Elem()
		}
		switch {
		case t.Kind() == reflect.Struct:
			f, names, ok := field(t, part)
			if !ok {
				return unknown(file, k, i, names)
			}
			t = f.Type
		case t.Kind() == reflect.Map, t.Kind() == reflect.Slice && isNumber(part):
			t = t.Elem()
		case t.Kind() == reflect.Interface:
			return nil // the author determines the content
		default:
			up := toml.Key{Path: k.Path[:i]}
			return wire.Usagef("%s:%d: %s: expected %s", file, k.Line, up.Name(), kindOf(t).says)
		}
	}
	if want := kindOf(t); !want.fits(k) {
		return wire.Usagef("%s:%d: %s: expected %s", file, k.Line, k.Name(), want.says)
	}
	return nil
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// field returns the member of that name, or otherwise the names that exist.
func field(t reflect.Type, name string) (f reflect.StructField, names []string, ok bool) {
	for i := range t.NumField() {
		f = t.Field(i)
		if f.Tag.Get("toml") == name {
			return f, nil, true
		}
		names = append(names, f.Tag.Get("toml"))
	}
	return f, names, false
}

// unknown returns the error for an unknown key. i is the index of the first unknown segment in its path.
func unknown(file string, k toml.Key, i int, names []string) error {
	in := "a dialect file"
	if i > 0 {
		in = toml.Key{Path: k.Path[:i]}.Name()
	}
	return wire.Usagef("%s:%d: %s: %s has no member %q", file, k.Line, toml.Key{Path: k.Path[:i+1]}.Name(), in, k.Path[i]).
		WithHint(cmp.Or(hintFor(k.Path[:i+1]), catalog.DidYouMean(k.Path[i], names), "it has "+strings.Join(names, ", ")))
}

// places finds the lines of members.
type places struct {
	file string
	keys []toml.Key
}

// fault returns a usage Fault about the member at path. It contains the line of the member or of its nearest ancestor
// in the dialect file.
func (p places) fault(path, what string) error {
	for at := path; at != ""; {
		for _, k := range p.keys {
			if k.Name() == at {
				return wire.Usagef("%s:%d: %s: %s", p.file, k.Line, path, what)
			}
		}
		at = at[:max(strings.LastIndexByte(at, '.'), 0)]
	}
	return wire.Usagef("%s:1: %s: %s", p.file, path, what)
}

// programs returns an error for the first program of p that does not compile, or whose constant output has the wrong type. The tag yields
// lists the types that a program's output may have.
func (p *Page) programs(at places) error {
	for m := range p.all() {
		if prog, ok := m.value.Interface().(Prog); ok && prog != nil {
			if err := prog.Check(m.tag.Get("yields")); err != nil {
				return at.fault(m.path, err.Error())
			}
			prog.StandsAt(at.file + ": " + m.path)
		}
	}
	return nil
}

// choices returns an error for the first member of p whose value is not one of its choices.
func (p *Page) choices(at places) (err error) {
	for m := range p.all() {
		of := m.tag.Get("of")
		if of == "" {
			continue
		}
		words, _ := m.value.Interface().(Texts)
		if word, ok := m.value.Interface().(string); ok {
			words = Texts{word}
		}
		names := strings.Split(of, "|")
		for _, word := range words {
			if word == "" || slices.Contains(names, word) {
				continue
			}
			what := fmt.Sprintf("expected one of %s, not %q", strings.Join(names, ", "), word)
			if near := catalog.Nearest(word, names); near != "" {
				what += "; did you mean " + near + "?"
			}
			err = at.fault(m.path, what)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A part is a value in a dialect file, with its path and, if it is the value of a member, the tag of the member.
type part struct {
	path  string
	value reflect.Value
	tag   reflect.StructTag
}

// all yields p, and every part below it.
func (p *Page) all() iter.Seq[part] {
	return func(yield func(part) bool) { part{value: reflect.ValueOf(p).Elem()}.each(yield) }
}

// each calls yield for p, and for every part below it, until yield returns false.
func (p part) each(yield func(part) bool) bool {
	more := yield(p)
	v := p.value
	below := func(path string, v reflect.Value, tag reflect.StructTag) {
		more = more && part{path, v, tag}.each(yield)
	}
	switch {
	case !more, v.Type() == reflect.TypeFor[Prog](): // ended, or a program, which has no parts
	case v.Kind() == reflect.Pointer && !v.IsNil():
		below(p.path, v.Elem(), "")
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			tag := v.Type().Field(i).Tag
			below(strings.TrimPrefix(p.path+"."+tag.Get("toml"), "."), v.Field(i), tag)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			below(p.path+"["+strconv.Itoa(i)+"]", v.Index(i), "")
		}
	case v.Kind() == reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			below(p.path+"."+key.String(), v.MapIndex(key), "")
		}
	}
	return more
}
