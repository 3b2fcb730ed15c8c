package jsonrpc

import (
	"encoding/json"
	"strings"
	"testing"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

const petstore = `{
  "openrpc": "1.2.6",
  "info": {"title": "Petstore", "version": "1.0.0", "description": "pets", "license": {"name": "MIT"}},
  "servers": [{"url": "http://localhost:8080"}],
  "methods": [
    {"name": "list_pets", "summary": "List all pets", "tags": [{"name": "pets"}],
     "params": [{"name": "limit", "description": "How many", "required": false, "schema": {"type": "integer", "minimum": 1}}],
     "result": {"name": "pets", "description": "A page", "schema": {"$ref": "#/components/schemas/Pets"}},
     "errors": [{"code": 100, "message": "pets busy"}], "x-rate": 5},
    {"name": "get_pet", "paramStructure": "by-position",
     "params": [{"$ref": "#/components/contentDescriptors/PetId"}, {"name": "b", "schema": {"type": "string"}}, {"name": "c", "schema": true}],
     "result": {"name": "pet", "schema": {"$ref": "#/components/schemas/Pet"}}},
    {"name": "make_pet", "paramStructure": "by-name",
     "params": [{"name": "name", "required": true, "schema": {"type": "string"}}, {"name": "tag", "schema": {"type": "string"}}],
     "result": {"name": "result", "schema": {}}},
    {"name": "tick", "params": []}
  ],
  "components": {
    "contentDescriptors": {"PetId": {"name": "petId", "required": true, "description": "The id", "schema": {"$ref": "#/components/schemas/PetId"}}},
    "schemas": {"PetId": {"type": "integer"}, "Pet": {"type": "object", "properties": {"id": {"$ref": "#/components/schemas/PetId"}}}, "Pets": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}}
  },
  "x-logo": "cat"
}`

func TestFromOpenRPC(t *testing.T) {
	c, err := FromOpenRPC(json.RawMessage(petstore))
	testkit.OK(t, err)
	got, err := json.Marshal(c)
	testkit.OK(t, err)
	const want = `{"catalog":1,"dialect":"jsonrpc","info":{"name":"Petstore","version":"1.0.0","description":"pets"},
	"methods":[
	{"name":"list_pets","kind":"call","description":"List all pets",
	 "params":{"type":["object","array"],"properties":{"limit":{"description":"How many","type":"integer","minimum":1}},"prefixItems":[{"description":"How many","type":"integer","minimum":1}]},
	 "result":{"$ref":"#/$defs/Pets"},
	 "extra":{"tags":[{"name":"pets"}],"result":{"name":"pets","description":"A page"},"errors":[{"code":100,"message":"pets busy"}],"x-rate":5}},
	{"name":"get_pet","kind":"call",
	 "params":{"type":"array","prefixItems":[{"title":"petId","description":"The id","$ref":"#/$defs/PetId"},{"title":"b","type":"string"},{"title":"c"}],"minItems":1},
	 "result":{"$ref":"#/$defs/Pet"},"extra":{"result":{"name":"pet"}}},
	{"name":"make_pet","kind":"call","params":{"type":"object","properties":{"name":{"type":"string"},"tag":{"type":"string"}},"required":["name"]}},
	{"name":"tick","kind":"notify"}],
	"$defs":{"PetId":{"type":"integer"},"Pet":{"type":"object","properties":{"id":{"$ref":"#/$defs/PetId"}}},"Pets":{"type":"array","items":{"$ref":"#/$defs/Pet"}}},
	"extra":{"openrpc":"1.2.6","info":{"license":{"name":"MIT"}},"servers":[{"url":"http://localhost:8080"}],
	 "components":{"contentDescriptors":{"PetId":{"name":"petId","required":true,"description":"The id","schema":{"$ref":"#/$defs/PetId"}}}},"x-logo":"cat"}}`
	if !scan.Equal(got, []byte(want)) {
		t.Errorf("got %s", got)
	}
}

// Writing and reading OpenRPC does not change a catalog, including members that OpenRPC lacks.
func TestOpenRPCRoundTrip(t *testing.T) {
	pets, err := FromOpenRPC(json.RawMessage(petstore))
	testkit.OK(t, err)
	own := &catalog.Catalog{
		Catalog: 1, Dialect: "jsonrpc", Info: catalog.Info{Name: "own", Version: "2"},
		Methods: []catalog.Method{
			{
				Name: "a", Kind: catalog.Stream, Params: json.RawMessage(`{"type":"object","properties":{"x":{"$ref":"#/$defs/X"}},"additionalProperties":false}`),
				Events: map[string]json.RawMessage{"t": json.RawMessage(`{"type":"string"}`)}, Effects: []string{"read"},
				Hints: json.RawMessage(`{"slow":true}`), Cache: json.RawMessage(`{"max-age":5}`), Stream: &catalog.StreamForm{Method: "tick", ID: "hex"}, Extra: json.RawMessage(`{"own":1,"x-own":2}`),
			},
			{Name: "b", Kind: catalog.Job, Result: json.RawMessage(`{"type":"null"}`)},
			{Name: "c", Kind: catalog.Call, Params: json.RawMessage(`true`)},
		},
		Classes: []json.RawMessage{json.RawMessage(`{"name":"C"}`)}, Constants: json.RawMessage(`{"PI":3.140}`),
		Defs:  map[string]json.RawMessage{"X": json.RawMessage(`{"type":"integer"}`)},
		Extra: json.RawMessage(`{"service_hash":"abc"}`),
	}
	for _, c := range []*catalog.Catalog{pets, own} {
		doc := ToOpenRPC(c)
		back, err := FromOpenRPC(doc)
		if err != nil {
			t.Fatal(err, string(doc))
		}
		if c == own {
			if v := scan.Get(back.Extra, "openrpc"); string(v) != `"1.3.2"` {
				t.Errorf("version %s", v)
			}
			back.Extra = scan.Splice(own.Extra, "service_hash", scan.Get(back.Extra, "service_hash"))
		}
		want, _ := json.Marshal(c)
		got, _ := json.Marshal(back)
		if !scan.Equal(got, want) {
			t.Errorf("got  %s\nwant %s\ndoc  %s", got, want, doc)
		}
	}
	own.Methods[0].Run = "sh:secret"
	if doc := string(ToOpenRPC(own)); !json.Valid([]byte(doc)) || strings.Contains(doc, "secret") {
		t.Error(doc)
	}
}

func TestFromOpenRPCRefuses(t *testing.T) {
	for _, doc := range []string{`5`, `{`, `{}`, `{"methods":{}}`, `null`} {
		if c, err := FromOpenRPC(json.RawMessage(doc)); err == nil {
			t.Errorf("%s is %+v", doc, c)
		}
	}
}
