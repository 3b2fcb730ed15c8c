package versions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire/catalog"
	"rpcx/wire/testkit"
)

// told returns the differences between two catalogs as lines.
func told(t *testing.T, before, now string) string {
	t.Helper()
	all, err := Compare(testkit.Catalog(t, before), testkit.Catalog(t, now))
	testkit.OK(t, err)
	var b strings.Builder
	for _, d := range all {
		in := ""
		if d.In == "old" {
			in = "old "
		}
		fmt.Fprintf(&b, "%s %s %s%s\n", d.Level, d.Rule, in, d.Pointer)
		if _, ok := kinds[d.Rule]; !ok {
			t.Errorf("%s is in no table", d.Rule)
		}
		if strings.HasPrefix(d.Rule, "method-") && d.Method == "" {
			t.Errorf("%s names no method", d.Rule)
		}
		if d.Level == "" || d.Message == "" || strings.Contains(d.Message, "%!") {
			t.Errorf("%+v", d)
		}
	}
	return b.String()
}

var ofCatalogs = []struct{ name, before, now, want string }{
	{"nothing", `"methods":[{"name":"a"}]`, `"methods":[{"name":"a"}]`, ""},
	{
		"names", `"dialect":"scomp","info":{"name":"a","version":"1"},"methods":[]`, `"dialect":"mcp","info":{"name":"b","version":"2"},"methods":[]`,
		"breaking dialect-changed /dialect\ndocumentation name-changed /info/name\ndocumentation version-changed /info/version\n",
	},
	{
		"constants", `"methods":[],"constants":{"a":1,"b":1}`, `"methods":[],"constants":{"b":2,"c":1}`,
		"breaking constant-removed old /constants/a\nbreaking constant-changed /constants/b\ncompatible constant-added /constants/c\n",
	},
	{
		"methods", `"methods":[{"name":"gone"},{"name":"stays"}]`, `"methods":[{"name":"stays"},{"name":"come"}]`,
		"breaking method-removed old /methods/0\ncompatible method-added /methods/1\n",
	},
	{
		"a new name", `"methods":[{"name":"getOrder","params":{"type":"object"}}]`, `"methods":[{"name":"getOrders","params":{"type":"object"}}]`,
		"breaking method-renamed /methods/0\n",
	},
	{
		"parameters in another order", `"methods":[{"name":"a","params":{"type":["object","array"],"properties":{"x":{"type":"string"},"y":{"type":"string"}},"prefixItems":[{"type":"string"},{"type":"string"}]}}]`,
		`"methods":[{"name":"a","params":{"type":["object","array"],"properties":{"y":{"type":"string"},"x":{"type":"string"}},"prefixItems":[{"type":"string"},{"type":"string"}]}}]`,
		"breaking element-moved /methods/0/params/prefixItems/0\nbreaking element-moved /methods/0/params/prefixItems/1\n",
	},
	{
		"bounds with many digits", `"methods":[{"name":"a","params":{"minimum":9007199254740992,"maximum":1e999999999}}]`, `"methods":[{"name":"a","params":{"minimum":9007199254740993,"maximum":1e999999999}}]`,
		"breaking range-narrowed /methods/0/params/minimum\n",
	},
	{
		"new elements", `"methods":[{"name":"a","params":{"type":"array","prefixItems":[true],"items":false}},{"name":"b","params":{"type":"array"}}]`,
		`"methods":[{"name":"a","params":{"type":"array","prefixItems":[true,{"type":"string"}],"items":false}},{"name":"b","params":{"type":"array","prefixItems":[{"type":"string"}],"minItems":1}}]`,
		"breaking size-narrowed /methods/1/params/minItems\nbreaking property-added-required /methods/1/params/prefixItems/0\ncompatible property-unforeseen /methods/0/params/prefixItems/1\n",
	},
	{
		"conditions", `"methods":[{"name":"a","params":{"not":{"type":"null"},"contains":true}}]`, `"methods":[{"name":"a","params":{"if":true,"contains":false}}]`,
		"breaking condition-changed /methods/0/params/contains\nbreaking condition-added /methods/0/params/if\ncompatible condition-removed old /methods/0/params/not\n",
	},
	{
		"members beside a reference", `"methods":[{"name":"a","params":{"$ref":"#/$defs/N","maximum":5}}],"$defs":{"N":{"type":"integer","maximum":9}}`,
		`"methods":[{"name":"a","params":{"type":"integer","maximum":5}}]`, "",
	},
	{
		"alternatives with the same name, constant or type",
		`"methods":[{"name":"a","params":{"anyOf":[{"title":"A","minimum":1},{"properties":{"k":{"const":"x"}}},{"type":"string","minLength":1}]}}]`,
		`"methods":[{"name":"a","params":{"anyOf":[{"type":"string","minLength":2},{"properties":{"k":{"const":"x"},"l":true}},{"title":"A","minimum":2}]}}]`,
		"breaking range-narrowed /methods/0/params/anyOf/2/minimum\nbreaking length-narrowed /methods/0/params/anyOf/0/minLength\ncompatible property-added /methods/0/params/anyOf/1/properties/l\n",
	},
	{
		"an enum that is a choice of constants", `"methods":[{"name":"a","params":{"enum":["x","y"]},"result":{"type":"string","enum":["x","y"]}}]`,
		`"methods":[{"name":"a","params":{"anyOf":[{"const":"x"},{"const":"y"}]},"result":{"type":"string","oneOf":[{"const":"y","title":"Y"},{"const":"x"}]}}]`, "",
	},
	{
		"the same bound of whole numbers", `"methods":[{"name":"a","params":{"type":"integer","minimum":1,"exclusiveMaximum":10}},{"name":"b","params":{"type":"number","minimum":1}}]`,
		`"methods":[{"name":"a","params":{"type":"integer","exclusiveMinimum":0,"maximum":9.5}},{"name":"b","params":{"type":"number","exclusiveMinimum":0}}]`,
		"compatible range-widened /methods/1/params/exclusiveMinimum\n",
	},
	{
		"a property and a member of another name",
		`"methods":[{"name":"a","params":{"type":"object","properties":{"customer":{"type":"string"},"z":{"type":"string"}},"required":["customer"]}}],"classes":[{"name":"A","properties":[{"name":"colour","schema":{"type":"string"}}]}]`,
		`"methods":[{"name":"a","params":{"type":"object","properties":{"buyer":{"type":"string"},"z":{"type":"string"}},"required":["buyer"]}}],"classes":[{"name":"A","properties":[{"name":"hue","schema":{"type":"string"}}]}]`,
		"breaking property-renamed /methods/0/params/properties/buyer\nbreaking member-renamed /classes/0/properties/0\n",
	},
	{"a call that is a stream", `"methods":[{"name":"a"}]`, `"methods":[{"name":"a","kind":"stream"}]`, "breaking kind-changed /methods/0/kind\n"},
	{
		"effects", `"methods":[{"name":"a","effects":["read","creates"]}]`, `"methods":[{"name":"a","effects":["deletes"]}]`,
		"breaking effect-added /methods/0/effects/0\ncompatible effect-removed old /methods/0/effects/1\n",
	},
	{
		"hints", `"methods":[{"name":"a","hints":{"readOnly":true,"target":"1"}}]`, `"methods":[{"name":"a","hints":{"idempotent":true,"target":"2"}}]`,
		"breaking hint-lost old /methods/0/hints/readOnly\ncompatible hint-gained /methods/0/hints/idempotent\ndocumentation hint-changed /methods/0/hints/target\n",
	},
	{
		"annotations", `"methods":[{"name":"a","extra":{"annotations":{"readOnlyHint":true}}}]`, `"methods":[{"name":"a","extra":{"annotations":{"readOnlyHint":false}}}]`,
		"breaking hint-lost old /methods/0/extra/annotations/readOnlyHint\ndocumentation extra-changed /methods/0/extra/annotations\n",
	},
	{
		"cache", `"methods":[{"name":"a","cache":{"max-age":60}},{"name":"b"}]`, `"methods":[{"name":"a"},{"name":"b","cache":{"max-age":5}}]`,
		"compatible cache-shorter /methods/0/cache/max-age\ncompatible cache-longer /methods/1/cache/max-age\n",
	},
	{
		"errors", `"methods":[{"name":"a","extra":{"errors":[{"code":1,"message":"x"},{"code":2}]}}]`, `"methods":[{"name":"a","extra":{"errors":[{"code":1,"message":"y"},{"code":3}]}}]`,
		"breaking error-removed old /methods/0/extra/errors/1\ncompatible error-added /methods/0/extra/errors/1\ndocumentation description-changed /methods/0/extra/errors/0\n",
	},
	{
		"a stream's items", `"methods":[{"name":"a","kind":"stream","stream":{"method":"x"}}]`, `"methods":[{"name":"a","kind":"stream","stream":{"method":"y"}}]`,
		"breaking stream-changed /methods/0/stream\n",
	},
	{
		"events", `"methods":[{"name":"a","kind":"stream","events":{"x":true,"y":{"type":"string"}}}]`, `"methods":[{"name":"a","kind":"stream","events":{"y":{"type":["string","null"]},"z":true}}]`,
		"breaking event-removed old /methods/0/events/x\nbreaking type-widened /methods/0/events/y/type\ncompatible event-added /methods/0/events/z\n",
	},
	{
		"what people read", `"methods":[{"name":"a","description":"x","extra":{"k":1}}],"extra":{"m":1}`, `"methods":[{"name":"a","description":"y","extra":{"k":2}}],"extra":{"m":2}`,
		"documentation description-changed /methods/0/description\ndocumentation extra-changed /methods/0/extra/k\ndocumentation extra-changed /extra/m\n",
	},
	{
		"members of classes", `"methods":[],"classes":[{"name":"A","methods":[{"name":"m","params":{"type":"string"},"result":{"type":"string"}}],"properties":[{"name":"p","schema":{"type":"string"}}]}]`,
		`"methods":[],"classes":[{"name":"A","methods":[{"name":"m","params":{"type":["string","null"]},"result":{"type":["string","null"]}}],"properties":[{"name":"p","schema":{"type":["string","null"]}}]}]`,
		"breaking type-widened /classes/0/properties/0/schema/type\nbreaking type-widened /classes/0/methods/0/result/type\ncompatible type-widened /classes/0/methods/0/params/type\n",
	},
	{
		"classes", `"methods":[],"classes":[{"name":"A"},{"name":"B","constructor":1,"properties":[{"name":"p","settable":true},{"name":"q"},{"name":"r"}],"methods":[{"name":"m"}]}]`,
		`"methods":[],"classes":[{"name":"B","constructor":2,"properties":[{"name":"p"},{"name":"q","settable":true},{"name":"s"}]},{"name":"C"}]`,
		"breaking class-changed /classes/0/constructor\nbreaking member-read-only /classes/0/properties/0/settable\nbreaking member-removed old /classes/1/properties/2\n" +
			"breaking member-removed old /classes/1/methods/0\nbreaking class-removed old /classes/0\n" +
			"compatible member-writable /classes/0/properties/1/settable\ncompatible member-added /classes/0/properties/2\ncompatible class-added /classes/1\n",
	},
}

func TestCatalogs(t *testing.T) {
	for _, c := range ofCatalogs {
		if got := told(t, `{"catalog":1,`+c.before+`}`, `{"catalog":1,`+c.now+`}`); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// The cases have the effect of a difference in params and then in a result. p stands for the pointer to the schema.
var ofSchemas = []struct{ name, before, now, params, result string }{
	{"any", `{}`, `true`, "", ""},
	{"a schema where there was none", `true`, `{"type":"string"}`, "breaking schema-added p", "compatible schema-added p"},
	{"none where there was one", `{"type":"string"}`, `{}`, "compatible schema-removed old p", "breaking schema-removed old p"},
	{"an optional property", `{"type":"object"}`, `{"type":"object","properties":{"a":{}}}`, "compatible property-added p/properties/a", "compatible property-added p/properties/a"},
	{"a required property", `{"type":"object"}`, `{"type":"object","properties":{"a":{}},"required":["a"]}`, "breaking property-added-required p/properties/a", "compatible property-added-required p/properties/a"},
	{"a property that nobody could foresee", `{"type":"object","additionalProperties":false}`, `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, "compatible property-unforeseen p/properties/a", "breaking property-unforeseen p/properties/a"},
	{"a property less", `{"type":"object","properties":{"a":{}}}`, `{"type":"object"}`, "breaking property-removed old p/properties/a", "breaking property-removed old p/properties/a"},
	{"a property renamed", `{"properties":{"orderId":{"type":"string"}}}`, `{"properties":{"order_id":{"type":"string"}}}`, "breaking property-renamed p/properties/order_id", "breaking property-renamed p/properties/order_id"},
	{"required", `{"properties":{"a":{}}}`, `{"properties":{"a":{}},"required":["a"]}`, "breaking property-required p/properties/a", "compatible property-required p/properties/a"},
	{"optional", `{"properties":{"a":{}},"required":["a"]}`, `{"properties":{"a":{}}}`, "compatible property-optional p/properties/a", "breaking property-optional p/properties/a"},
	{"required without a schema", `{"type":"object"}`, `{"type":"object","required":["a"]}`, "breaking property-required p/required", "compatible property-required p/required"},
	{"others allowed", `{"type":"object","additionalProperties":false}`, `{"type":"object"}`, "compatible extra-allowed p/additionalProperties", "breaking extra-allowed p/additionalProperties"},
	{"others forbidden", `{"type":"object"}`, `{"type":"object","additionalProperties":false}`, "breaking extra-forbidden p/additionalProperties", "compatible extra-forbidden p/additionalProperties"},
	{"others", `{"additionalProperties":{"type":"integer"}}`, `{"additionalProperties":{"type":"number"}}`, "compatible type-widened p/additionalProperties/type", "breaking type-widened p/additionalProperties/type"},
	{"an element", `{"type":"array","prefixItems":[{}]}`, `{"type":"array","prefixItems":[{},{}]}`, "compatible element-added p/prefixItems/1", "compatible element-added p/prefixItems/1"},
	{"an element less", `{"type":"array","items":[{},{}]}`, `{"type":"array","items":[{}]}`, "breaking element-removed old p/items/1", "breaking element-removed old p/items/1"},
	{"elements", `{"type":"array","items":{"type":"integer"}}`, `{"type":"array","items":{"type":"string"}}`, "breaking type-changed p/items/type", "breaking type-changed p/items/type"},
	{"a type more", `{"type":"string"}`, `{"type":["string","null"]}`, "compatible type-widened p/type", "breaking type-widened p/type"},
	{"a type more, with the same values", `{"type":"string","enum":["a",null]}`, `{"type":["string","null"],"enum":["a",null]}`, "compatible type-widened p/type", "breaking type-widened p/type"},
	{"a type less", `{"type":"number"}`, `{"type":"integer"}`, "breaking type-narrowed p/type", "compatible type-narrowed p/type"},
	{"another type", `{"type":"string","minLength":1}`, `{"type":"integer"}`, "breaking type-changed p/type", "breaking type-changed p/type"},
	{"a list of values", `{"type":"string"}`, `{"type":"string","enum":["a"]}`, "breaking enum-added p/enum", "compatible enum-added p/enum"},
	{"no list of values", `{"type":"string","enum":["a"]}`, `{"type":"string"}`, "compatible enum-removed old p/enum", "breaking enum-removed old p/enum"},
	{"a value more", `{"enum":["a"]}`, `{"enum":["a","b"]}`, "compatible enum-value-added p/enum", "breaking enum-value-added p/enum"},
	{"a value less", `{"enum":["a","b"]}`, `{"enum":["b"]}`, "breaking enum-value-removed old p/enum", "compatible enum-value-removed old p/enum"},
	{"another constant", `{"const":1}`, `{"const":2}`, "breaking enum-value-removed old p/const|compatible enum-value-added p/const", "breaking enum-value-added p/const|compatible enum-value-removed old p/const"},
	{"a lower minimum", `{"minimum":1}`, `{"minimum":0.5}`, "compatible range-widened p/minimum", "breaking range-widened p/minimum"},
	{"a bound that is excluded", `{"maximum":12345678901234567890}`, `{"exclusiveMaximum":12345678901234567890}`, "breaking range-narrowed p/exclusiveMaximum", "compatible range-narrowed p/exclusiveMaximum"},
	{"a bound of draft 4", `{"minimum":1}`, `{"minimum":1,"exclusiveMinimum":true}`, "breaking range-narrowed p/minimum", "compatible range-narrowed p/minimum"},
	{"an absurd bound", `{"maximum":1e999999999}`, `{"maximum":1e999999999}`, "", ""},
	{"longer", `{"maxLength":5}`, `{"minLength":0,"maxLength":6}`, "compatible length-widened p/maxLength", "breaking length-widened p/maxLength"},
	{"shorter", `{"type":"string"}`, `{"type":"string","maxLength":5}`, "breaking length-narrowed p/maxLength", "compatible length-narrowed p/maxLength"},
	{"more elements", `{"minItems":2}`, `{"minItems":1}`, "compatible size-widened p/minItems", "breaking size-widened p/minItems"},
	{"fewer properties", `{"maxProperties":3}`, `{"maxProperties":2}`, "breaking size-narrowed p/maxProperties", "compatible size-narrowed p/maxProperties"},
	{"a pattern", `{"type":"string"}`, `{"type":"string","pattern":"a"}`, "breaking pattern-added p/pattern", "compatible pattern-added p/pattern"},
	{"no pattern", `{"type":"string","pattern":"a"}`, `{"type":"string"}`, "compatible pattern-removed old p/pattern", "breaking pattern-removed old p/pattern"},
	{"another pattern", `{"pattern":"a"}`, `{"pattern":"b"}`, "breaking pattern-changed p/pattern", "breaking pattern-changed p/pattern"},
	{"a format", `{"type":"string"}`, `{"type":"string","format":"date"}`, "breaking format-added p/format", "compatible format-added p/format"},
	{"no format", `{"type":"string","format":"date"}`, `{"type":"string"}`, "compatible format-removed old p/format", "breaking format-removed old p/format"},
	{"another format", `{"format":"date"}`, `{"format":"time"}`, "breaking format-changed p/format", "breaking format-changed p/format"},
	{"a factor", `{"type":"number"}`, `{"type":"number","multipleOf":2}`, "breaking multiple-added p/multipleOf", "compatible multiple-added p/multipleOf"},
	{"no factor", `{"type":"number","multipleOf":2}`, `{"type":"number"}`, "compatible multiple-removed old p/multipleOf", "breaking multiple-removed old p/multipleOf"},
	{"another factor", `{"multipleOf":2}`, `{"multipleOf":3}`, "breaking multiple-changed p/multipleOf", "breaking multiple-changed p/multipleOf"},
	{"different elements", `{"type":"array"}`, `{"type":"array","uniqueItems":true}`, "breaking unique-added p/uniqueItems", "compatible unique-added p/uniqueItems"},
	{"like elements", `{"type":"array","uniqueItems":true}`, `{"type":"array"}`, "compatible unique-removed old p/uniqueItems", "breaking unique-removed old p/uniqueItems"},
	{"a form more", `{"oneOf":[{"type":"string"}]}`, `{"oneOf":[{"type":"null"},{"type":"string"}]}`, "compatible alternative-added p/oneOf/0", "breaking alternative-added p/oneOf/0"},
	{"a form less", `{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]}`, `{"anyOf":[{"$ref":"#/$defs/b"}]}`, "breaking alternative-removed old p/anyOf/0", "compatible alternative-removed old p/anyOf/0"},
	{"a value that got forms", `{"type":"string"}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, "compatible alternative-added p/anyOf/1", "breaking alternative-added p/anyOf/1"},
	{"a value that lost its forms", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"type":"string"}`, "breaking alternative-removed old p/anyOf/1", "compatible alternative-removed old p/anyOf/1"},
	{"forms of which one counts, that are any of them", `{"oneOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, "", ""},
	{"forms of which any counts, that are one of them", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"oneOf":[{"type":"string"},{"type":"null"}]}`, "", ""},
	{"forms that come beside others", `{"type":"string","anyOf":[{"minLength":1}]}`, `{"type":"string","oneOf":[{"type":"string"}],"anyOf":[{"minLength":1}]}`, "breaking condition-added p/oneOf", "compatible condition-added p/oneOf"},
	{"forms that go beside others", `{"type":"string","oneOf":[{"minLength":1}],"anyOf":[{"maxLength":3}]}`, `{"type":"string","oneOf":[{"minLength":1}]}`, "compatible condition-removed old p/anyOf", "breaking condition-removed old p/anyOf"},
	{"forms beside others", `{"type":"string","oneOf":[{"minLength":1}]}`, `{"type":"string","oneOf":[{"minLength":1}],"anyOf":[{"maxLength":3},{"maxLength":5}]}`, "breaking condition-added p/anyOf", "compatible condition-added p/anyOf"},
	{
		"forms told by a constant", `{"oneOf":[{"properties":{"by":{"const":"card"}}},{"properties":{"by":{"const":"iban"},"n":{"type":"string"}}}]}`,
		`{"oneOf":[{"properties":{"by":{"const":"iban"},"n":{"type":["string","null"]}}},{"properties":{"by":{"const":"card"}}}]}`,
		"compatible type-widened p/oneOf/0/properties/n/type", "breaking type-widened p/oneOf/0/properties/n/type",
	},
	{"a condition more", `{"type":"string"}`, `{"type":"string","allOf":[{"minLength":1}]}`, "breaking condition-added p/allOf/0", "compatible condition-added p/allOf/0"},
	{"a condition less", `{"type":"string","not":{"const":"a"}}`, `{"type":"string"}`, "compatible condition-removed old p/not", "breaking condition-removed old p/not"},
	{"another condition", `{"not":{"const":"a"}}`, `{"not":{"const":"b"}}`, "breaking condition-changed p/not", "breaking condition-changed p/not"},
	{"a default", `{"type":"string"}`, `{"type":"string","default":"a"}`, "compatible default-added p/default", "documentation default-added p/default"},
	{"no default", `{"type":"string","default":"a"}`, `{"type":"string"}`, "breaking default-removed old p/default", "documentation default-removed old p/default"},
	{"another default", `{"default":"a"}`, `{"default":"b"}`, "breaking default-changed p/default", "documentation default-changed p/default"},
	{"deprecated", `{"type":"string"}`, `{"type":"string","deprecated":true}`, "documentation deprecated p/deprecated", "documentation deprecated p/deprecated"},
	{"deprecated no longer", `{"type":"string","deprecated":true}`, `{"type":"string"}`, "documentation no-longer-deprecated p/deprecated", "documentation no-longer-deprecated p/deprecated"},
	{"a title", `{"title":"a"}`, `{"title":"b"}`, "documentation description-changed p/title", "documentation description-changed p/title"},
	{"nothing fits", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":false}}`, "breaking type-narrowed p/properties/a/type", "compatible type-narrowed p/properties/a/type"},
	{"a definition that goes in circles", `{"$ref":"#/$defs/tree"}`, `{"$ref":"#/$defs/tree2"}`, "breaking property-removed old /$defs/tree/properties/v", "breaking property-removed old /$defs/tree/properties/v"},
	{"a definition in place of what it holds", `{"type":"integer"}`, `{"$ref":"#/$defs/a"}`, "", ""},
}

const defs = `"$defs":{"a":{"type":"integer"},"b":{"type":"string"},
	"tree":{"type":"object","properties":{"v":{"type":"string"},"sub":{"$ref":"#/$defs/tree"}}},
	"tree2":{"type":"object","properties":{"sub":{"$ref":"#/$defs/tree2"}}}}`

func TestSchemas(t *testing.T) {
	for _, c := range ofSchemas {
		for what, want := range map[string]string{"params": c.params, "result": c.result} {
			catalogOf := func(schema string) string {
				return `{"catalog":1,"methods":[{"name":"m","` + what + `":` + schema + `}],` + defs + `}`
			}
			got := strings.ReplaceAll(told(t, catalogOf(c.before), catalogOf(c.now)), "/methods/0/"+what, "p")
			if want = strings.ReplaceAll(want, "|", "\n"); want != "" {
				want += "\n"
			}
			if got != want {
				t.Errorf("%s, in %s: got\n%swant\n%s", c.name, what, got, want)
			}
		}
	}
}

// The cases above cover each kind of difference, and the number of kinds equals the documented one.
func TestEveryKindIsTested(t *testing.T) {
	var all strings.Builder
	for _, c := range ofCatalogs {
		all.WriteString(c.want)
	}
	for _, c := range ofSchemas {
		all.WriteString(c.params + "\n" + c.result + "\n")
	}
	for _, k := range Kinds() {
		if !strings.Contains(all.String(), " "+k.Name+" ") {
			t.Errorf("no test covers %s", k.Name)
		}
		if k.Sentence == "" || k.Class == "" && (k.Params == "" || k.Result == "") {
			t.Errorf("%+v lacks a sentence or a class", k)
		}
	}
	if len(Kinds()) < 30 {
		t.Errorf("only %d kinds", len(Kinds()))
	}
}

// Comparing a catalog with itself finds no difference.
func TestTheDemosAreTheirOwnVersions(t *testing.T) {
	files, _ := filepath.Glob("../../serve/demo/*.json")
	if len(files) < 3 {
		t.Fatalf("only %d demos", len(files))
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		testkit.OK(t, err)
		if got := told(t, string(b), string(b)); got != "" {
			t.Errorf("%s:\n%s", file, got)
		}
	}
}

func FuzzCompare(f *testing.F) {
	for _, c := range ofSchemas {
		f.Add(c.before, c.now)
	}
	f.Fuzz(func(t *testing.T, before, now string) {
		catalogOf := func(schema string) (*catalog.Catalog, error) {
			return catalog.Parse([]byte(`{"catalog":1,"methods":[{"name":"m","params":` + schema + `,"result":` + schema + `}],` + defs + `}`))
		}
		a, err := catalogOf(before)
		b, berr := catalogOf(now)
		if err != nil || berr != nil {
			return
		}
		if _, err := Compare(a, b); err != nil {
			t.Fatal(err)
		}
		if same, _ := Compare(a, a); len(same) > 0 {
			t.Fatalf("%s differs from itself: %+v", before, same)
		}
	})
}

// Values appear unchanged in messages. Long values are cut between characters.
func TestMessages(t *testing.T) {
	long := strings.Repeat("é", 60)
	for _, c := range []struct{ before, now, method, want string }{
		{`"info":{"name":""},"methods":[]`, `"info":{"name":"a"},"methods":[]`, "", `the peer's name was nothing and is now "a"`},
		{`"info":{"name":"a"},"methods":[]`, `"methods":[]`, "", `the peer's name was "a" and is now nothing`},
		{`"methods":[{"name":"m","params":{"default":"<a> & b"}}]`, `"methods":[{"name":"m","params":{"default":1.50}}]`, "m", `the default was "<a> & b" and is now 1.50`},
		{`"methods":[],"extra":{"x":null}`, `"methods":[],"extra":{"x":"` + long + `"}`, "", `x was nothing and is now "` + strings.Repeat("é", 39) + "…"},
		{`"methods":[{"name":"m","params":{"default":1}}]`, `"methods":[{"name":"m","params":{"default":"x` + long + `"}}]`, "m", `the default was 1 and is now "x` + strings.Repeat("é", 39) + "…"},
	} {
		all, err := Compare(testkit.Catalog(t, `{"catalog":1,`+c.before+`}`), testkit.Catalog(t, `{"catalog":1,`+c.now+`}`))
		if err != nil || len(all) != 1 || all[0].Message != c.want || all[0].Method != c.method {
			t.Errorf("%v, %v, want %s of %q", all, err, c.want, c.method)
		}
	}
}

// rpcx compares removed members of a class with new ones only if there is one of each.
func TestManyMembersAreCheap(t *testing.T) {
	class := func(name string) *catalog.Catalog {
		var members []string
		for i := range 500 {
			members = append(members, fmt.Sprintf(`{"name":"%s%d","schema":{"type":"string"}}`, name, i))
		}
		c, err := catalog.Parse([]byte(`{"catalog":1,"methods":[],"classes":[{"name":"C","properties":[` + strings.Join(members, ",") + `]}]}`))
		testkit.OK(t, err)
		return c
	}
	before, now := class("a"), class("b")
	if n := testing.AllocsPerRun(1, func() { _, _ = Compare(before, now) }); n > 100_000 {
		t.Errorf("%.0f allocations", n)
	}
}

// Alternatives are numbered from 1.
func TestNumbersOfAlternatives(t *testing.T) {
	const one, two = `{"oneOf":[{"type":"string"}]}`, `{"oneOf":[{"type":"string"},{"type":"null"}]}`
	for before, now := range map[string]string{`{"type":"string"}`: two, one: two, two: one} {
		of := func(schema string) string { return `{"catalog":1,"methods":[{"name":"m","params":` + schema + `}]}` }
		all, err := Compare(testkit.Catalog(t, of(before)), testkit.Catalog(t, of(now)))
		if err != nil || len(all) != 1 || !strings.Contains(all[0].Message, "alternative 2 of") {
			t.Errorf("%v, %v", all, err)
		}
	}
}
