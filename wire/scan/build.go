package scan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// An Object writes a JSON object, member by member. Its zero value is usable. It does not check for repeated keys.
type Object struct{ builder }

// An Array writes a JSON array, element by element. Its zero value is usable.
type Array struct{ builder }

// A builder writes the parts of an object or array.
type builder struct {
	b      []byte
	opened bool
}

// next appends the opening bracket open, or the comma that precedes a further part.
func (w *builder) next(open byte) {
	if w.b == nil {
		w.b = make([]byte, 0, 64)
	}
	if w.opened {
		open = ','
	}
	w.b, w.opened = append(w.b, open), true
}

// end returns the object or array with its closing bracket.
func (w *builder) end(open, closing byte) []byte {
	if !w.opened {
		w.next(open)
	}
	return append(w.b, closing)
}

// Empty reports whether the object or array has no parts.
func (w *builder) Empty() bool { return !w.opened }

// AppendObject returns an Object whose End appends the object to dst.
func AppendObject(dst []byte) Object { return Object{builder{b: dst}} }

func (o *Object) key(name string) {
	o.next('{')
	o.b = append(AppendQuoted(o.b, name), ':')
}

// Add adds a member with the JSON val unchanged. It does nothing if val is empty.
func (o *Object) Add(name string, val []byte) {
	if len(val) > 0 {
		o.key(name)
		o.b = append(o.b, val...)
	}
}

// Compact is like Add, but writes val on one line (see the function Compact).
func (o *Object) Compact(name string, val []byte) {
	if len(val) > 0 {
		o.key(name)
		o.b = Compact(o.b, val)
	}
}

// Member adds a member whose key is in the form that Members yields.
func (o *Object) Member(key, val []byte) {
	o.rawKey(key)
	o.b = append(o.b, val...)
}

// CompactMember is like Member, but writes val on one line.
func (o *Object) CompactMember(key, val []byte) {
	o.rawKey(key)
	o.b = Compact(o.b, val)
}

func (o *Object) rawKey(key []byte) {
	o.next('{')
	o.b = append(o.b, '"')
	o.b = append(o.b, key...)
	o.b = append(o.b, '"', ':')
}

// Members adds the members of obj unchanged, except those named in but.
func (o *Object) Members(obj []byte, but ...string) {
	for key, val := range Members(obj) {
		if !slices.ContainsFunc(but, func(name string) bool { return IsKey(key, name) }) {
			o.Member(key, val)
		}
	}
}

// Named is like Members, but decodes the keys.
func (o *Object) Named(obj []byte, but ...string) {
	for name, val := range Named(obj) {
		if !slices.Contains(but, name) {
			o.Add(name, val)
		}
	}
}

// Append adds a member whose value is appended by write. If write fails, Append returns that error and the object is
// unusable.
func (o *Object) Append(name string, write func(b []byte) ([]byte, error)) error {
	o.key(name)
	b, err := write(o.b)
	o.b = b
	return err
}

// Inside adds the members of obj, without line breaks between them. It does nothing if obj is not an object.
func (o *Object) Inside(obj []byte) {
	inner := Trim(obj)
	if len(inner) < 2 || inner[0] != '{' {
		return
	}
	if inner = Trim(inner[1 : len(inner)-1]); len(inner) > 0 {
		o.next('{')
		o.b = Compact(o.b, inner)
	}
}

// Text adds a string member.
func (o *Object) Text(name, text string) {
	o.key(name)
	o.b = AppendQuoted(o.b, text)
}

// SomeText adds a string member unless text is empty.
func (o *Object) SomeText(name, text string) {
	if text != "" {
		o.Text(name, text)
	}
}

// Int adds an integer member.
func (o *Object) Int(name string, n int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// Bool adds a boolean member.
func (o *Object) Bool(name string, v bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, v)
}

// Value adds a member with the value Marshal(v). It does nothing if Marshal fails.
func (o *Object) Value(name string, v any) {
	if val, err := Marshal(v); err == nil {
		o.Add(name, val)
	}
}

// End returns the bytes given to AppendObject, followed by the object. The Object must not be used afterwards.
func (o *Object) End() []byte { return o.end('{', '}') }

// EndOrNil is like End, but returns nil if the object is empty.
func (o *Object) EndOrNil() []byte {
	if !o.opened {
		return nil
	}
	return o.End()
}

// AppendArray returns an Array whose End appends the array to dst.
func AppendArray(dst []byte) Array { return Array{builder{b: dst}} }

// Add adds the JSON val unchanged as an element.
func (a *Array) Add(val []byte) {
	a.next('[')
	a.b = append(a.b, val...)
}

// Compact is like Add, but writes val on one line (see the function Compact).
func (a *Array) Compact(val []byte) {
	a.next('[')
	a.b = Compact(a.b, val)
}

// Text adds a string.
func (a *Array) Text(text string) {
	a.next('[')
	a.b = AppendQuoted(a.b, text)
}

// End returns the bytes given to AppendArray, followed by the array. The Array must not be used afterwards.
func (a *Array) End() []byte { return a.end('[', ']') }

// EndOrNil is like End, but returns nil if the array is empty.
func (a *Array) EndOrNil() []byte {
	if !a.opened {
		return nil
	}
	return a.End()
}

// ArrayOf returns an array of vals.
func ArrayOf[V ~[]byte](vals ...V) []byte {
	var a Array
	for _, val := range vals {
		a.Add(val)
	}
	return a.End()
}

// TextsOf returns an array of strings.
func TextsOf(texts []string) []byte {
	var a Array
	for _, text := range texts {
		a.Text(text)
	}
	return a.End()
}

// Pair returns an object with one member.
func Pair(name string, val []byte) []byte {
	o := AppendObject(make([]byte, 0, len(name)+len(val)+5))
	o.Add(name, val)
	return o.End()
}

// Without returns obj without the members that have one of these names. If there are none, it returns obj itself.
func Without(obj []byte, names ...string) []byte {
	if !slices.ContainsFunc(names, func(name string) bool { return Get(obj, name) != nil }) {
		return obj
	}
	o := AppendObject(make([]byte, 0, len(obj)))
	o.Members(obj, names...)
	return o.End()
}

// OrNull returns val, or null if val is nil. All callers share this null and must not change it.
func OrNull[T ~[]byte](val T) T {
	if len(val) == 0 {
		return T(null)
	}
	return val
}

// Or returns val or, if val is nil, the first of others that is not nil.
func Or[T ~[]byte](val T, others ...[]byte) T {
	for _, other := range others {
		if val != nil {
			break
		}
		val = other
	}
	return val
}

var null = slices.Clip([]byte("null"))

// JSON returns v as written by Marshal. It is for values that Marshal never rejects: structs, strings and other values
// without functions, cycles or invalid RawMessages. For all other values, it returns null.
func JSON(v any) json.RawMessage {
	b, err := Marshal(v)
	if err != nil {
		return null
	}
	return b
}

// Marshal is like json.Marshal, but leaves <, > and & unchanged.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
