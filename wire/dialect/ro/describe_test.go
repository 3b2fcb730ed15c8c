package ro

import (
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

// rpcx finds the methods in each form that a result of rpc.describe can have.
func TestFromDescription(t *testing.T) {
	for _, tt := range []struct{ title, doc, want string }{
		{"ours", `{"ro-jrpc":"1.0","resources":[{"name":"user","description":"d","verbs":[{"name":"get","description":"one","params":{"type":"object"},"result":{}}],"subresources":[{"name":"key","verbs":[{"name":"list"}]}]}]}`, "user.get user.key.list"},
		{"names of verbs", `{"resources":[{"name":"user","verbs":["get","create"]},{"name":"repo","verbs":["get"],"subresources":[{"name":"issue","verbs":["get"]}]}]}`, "user.get user.create repo.get repo.issue.get"},
		{"resources as members", `{"resources":{"user":{"verbs":["get"]},"task":{"verbs":{"cancel":{"description":"c"}},"subresources":{"step":{"verbs":["list"]}}}}}`, "user.get task.cancel task.step.list"},
		{"verbs as members", `{"resources":{"user":{"get":{"params":{"id":"string"}},"create":{}}}}`, "user.get user.create"},
		{"verbs as texts", `{"resources":{"user":{"get":"one user","create":"a new one"}}}`, "user.get user.create"},
		{"arrays of verbs", `{"resources":{"user":["get","create"]}}`, "user.get user.create"},
		{"with nothing around", `{"user":["get"],"task":{"cancel":{"description":"c"}}}`, "user.get task.cancel"},
		{"an array of resources", `[{"name":"user","verbs":["get"]}]`, "user.get"},
		{"an array of names", `["user.get","repo.issue:get","user:create"]`, "user.get repo.issue.get user.create"},
		{"an array of fields", `[{"resource":"user","verb":"get"},{"resource":"repo","subresource":"issue","verb":"list"}]`, "user.get repo.issue.list"},
		{"resources by that name", `{"resources":[{"resource":"user","verbs":[{"verb":"get"}]}]}`, "user.get"},
		{"methods", `{"methods":["user.get",{"name":"user.create","params":{"type":"object"}},{"method":"ping"}]}`, "user.get user.create ping"},
		{"methods as members", `{"methods":{"user.get":{"description":"one"}}}`, "user.get"},
		{"subresources with names of verbs", `{"resources":[{"name":"repo","verbs":["get"],"subresources":{"issue":["get","list"]}}]}`, "repo.get repo.issue.get repo.issue.list"},
		{"verbs of fields", `[{"resource":"repo","subresource":"issue","verbs":["get"]}]`, "repo.issue.get"},
		{"verbs that nothing is said of", `{"resources":{"user":{"get":"one user","delete":null}}}`, "user.get user.delete"},
		{"verbs beside a description", `{"resources":{"user":{"description":"people","get":{"params":["id"]},"list":{}}}}`, "user.get user.list"},
		{"whole names of verbs", `{"resources":[{"name":"user","methods":["user.get","user:create","delete"]}]}`, "user.get user.create user.delete"},
		{"a resource with no verbs", `{"resources":["task",{"name":"user","description":"people"},{"name":"repo","subresources":["issue"]}],"methods":["ping"]}`, "ping"},
		{"nothing with a name", `{"resources":[{"verbs":["get",""]},{"name":"user","verbs":[{"description":"d"}]}]}`, ""},
		{"OpenRPC", `{"openrpc":"1.3.2","info":{"title":"t","version":"1"},"methods":[{"name":"user.get","params":[]}]}`, "user.get"},
		{"nothing yet", `{"resources":[]}`, ""},
		{"nonsense", `{"a":5}`, "protocol"},
		{"a number", `5`, "protocol"},
	} {
		c, err := FromDescription([]byte(tt.doc))
		got := ""
		if err != nil {
			got = string(wire.AsFault(err).Kind)
		} else {
			got = strings.Join(c.Names(), " ")
		}
		if got != tt.want {
			t.Errorf("%s: %q %v, want %q", tt.title, got, err, tt.want)
		}
	}
}

// rpcx keeps descriptions of resources, even without verbs.
func TestResourcesAreKept(t *testing.T) {
	c, err := FromDescription([]byte(`[{"name":"user","description":"people","verbs":["get"]}]`))
	if err != nil || string(c.Extra) != `{"resources":{"user":{"description":"people"}}}` {
		t.Errorf("got %s %v", c.Extra, err)
	}
	c, err = FromDescription([]byte(`{"info":{"title":"t","since":1},"resources":{"user":"people"}}`))
	if err != nil || string(c.Extra) != `{"resources":{"user":{"description":"people"}}}` || c.Info.Name != "t" || string(c.Info.Extra) != `{"since":1}` {
		t.Errorf("got %s %+v %v", c.Extra, c.Info, err)
	}
	c, err = FromDescription([]byte(`{"version":"2","limit":5,"resources":["task",{"name":"user","description":"people","verbs":["get"],
		"subresources":{"key":{"since":"1","verbs":["list"]}}},{"name":"repo","subresources":["issue"]},{"name":"plain","verbs":["get"]}]}`))
	want := `{"limit":5,"resources":{"task":{},"user.key":{"since":"1"},"user":{"description":"people"},"repo.issue":{},"repo":{}}}`
	if err != nil || string(c.Extra) != want {
		t.Errorf("\n got %s %v\nwant %s", c.Extra, err, want)
	}
}

// Params in any form become a schema.
func TestSchemaOf(t *testing.T) {
	for val, want := range map[string]string{
		`{"type":"object","properties":{}}`:   `{"type":"object","properties":{}}`,
		`{"$ref":"#/$defs/x"}`:                `{"$ref":"#/$defs/x"}`,
		`{}`:                                  `{}`,
		`true`:                                `true`,
		`{"name":"string","age":"int"}`:       `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}}}`,
		`{"type":"the kind","name":"string"}`: `{"type":"object","properties":{"type":{},"name":{"type":"string"}}}`,
		`["id","name"]`:                       `{"type":"object","properties":{"id":{},"name":{}}}`,
		`[{"name":"id","required":true,"schema":{"type":"integer"}},{"name":"x","type":"string"}]`: `{"type":"object","properties":{"id":{"type":"integer"},"x":{"type":"string"}},"required":["id"]}`,
		`[]`: `{"type":"object"}`,
		`5`:  ``,
	} {
		if got := string(schemaOf([]byte(val))); got != want {
			t.Errorf("%s is %s, want %s", val, got, want)
		}
	}
}

// The description that rpcx serves can be read back as an equal catalog.
func TestDescription(t *testing.T) {
	c, err := catalog.Parse([]byte(`{"catalog":1,"dialect":"ro","info":{"name":"n","version":"1"},"methods":[
		{"name":"user.get","description":"<one>","params":{"type":"object"},"result":{"$ref":"#/$defs/u"},"cache":{"max-age":60}},
		{"name":"repo.issue.list","kind":"job","hints":{"results":{"resource":"job"}},"extra":{"since":"2"}},
		{"name":"ping"}],"$defs":{"u":{"type":"object"}},
		"extra":{"resources":{"user":{"description":"people","owner":{"team":"a"}},"repo.issue":{"description":"what is wrong"}}}}`))
	testkit.OK(t, err)
	doc := Description(c)
	if !strings.HasPrefix(string(doc), `{"ro-jrpc":"1.0","info":{"name":"n","version":"1"},"resources":[{"name":"user","description":"people","owner":{"team":"a"},"verbs":[{"name":"get",`) {
		t.Errorf("the description is %s", doc)
	}
	again, err := FromDescription(doc)
	testkit.OK(t, err)
	again.Extra = []byte(strings.Replace(string(again.Extra), `"ro-jrpc":"1.0",`, "", 1)) // the version of the format
	want, _ := c.Marshal()
	if got, _ := again.Marshal(); string(got) != string(want) {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// FuzzDescription checks that any description becomes a catalog that can be written.
func FuzzDescription(f *testing.F) {
	f.Add(`{"resources":{"user":{"get":{"params":{"id":"string"}},"create":{}}}}`)
	f.Add(`[{"name":"user","verbs":[{"verb":"get","params":["a"],"result":5}]}]`)
	f.Fuzz(func(t *testing.T, doc string) {
		if c, err := catalogOf(doc); err == nil && c != nil {
			catalog.Normalize(c)
			if _, err := c.Marshal(); err != nil {
				t.Error(err)
			}
		}
	})
}

func catalogOf(doc string) (*catalog.Catalog, error) {
	c := NewCodec(dialect.CodecOptions{})
	msgs, _, err := c.Decode([]byte(`{"id":1,"result":` + doc + `}`))
	if err != nil || len(msgs) != 1 || msgs[0].Kind != wire.Response {
		return nil, err
	}
	return FromDescription(msgs[0].Body)
}
