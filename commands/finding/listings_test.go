package finding

import (
	"strings"
	"testing"

	"rpcx/wire/catalog"
)

// The method lists of real servers are recognised.
func TestListings(t *testing.T) {
	for _, c := range []struct{ method, result, want string }{
		{"core.describe", `{"core.playback.play":{"description":"Plays.","params":[{"name":"tl_track","default":null},{"name":"tlid"}]},"core.describe":{"description":"","params":[]}}`, "core.playback.play core.describe"},
		{"rpc.serverInfo", `{"methods":["Add","Mul"],"metrics":{},"startTime":"2026-01-01T00:00:00Z"}`, "Add Mul"},
		{"rpc_methods", `{"version":1,"methods":["chain_getBlock","system_name"]}`, "chain_getBlock system_name"},
		{"system.listMethods", `["add","system.listMethods"]`, "add system.listMethods"},
		{"system.describe", `{"sdversion":"1.0","name":"svc","procs":[{"name":"sum","params":["a"]}]}`, "sum"},
		{"rpc_modules", `{"eth":"1.0","net":"1.0"}`, ""},
		{"help", `"== Blockchain ==\ngetbestblockhash\ngetblock \"blockhash\" ( verbosity )\n\n== Control ==\nhelp ( \"command\" )"`, "getbestblockhash getblock help"},
		{"commands", `"addrequest addtransaction broadcast getbalance"`, "addrequest addtransaction broadcast getbalance"},
		{"commands", `["a","b"]`, "a b"},
		{"help", `"addnode \"addr\" \"add|remove\"\nestimatefee numblocks\ngetbestblock\n"`, "addnode estimatefee getbestblock"},
		{"help", `"say \"help\" first\nand then more of it."`, "none"},
		{"help", `"Call help(METHOD) for more."`, "none"},
		{"help", `"none"`, "none"},
		{"help", `7`, "none"},
		{"core.describe", `{"a":1}`, "none"},
		{"core.describe", `[]`, "none"},
		{"rpc_methods", `{}`, "none"},
		{"rpc_modules", `"x"`, "none"},
		{"system.listMethods", `[]`, "none"},
	} {
		for _, l := range listings {
			if l.method != c.method {
				continue
			}
			got := "none"
			if cat := l.reads([]byte(c.result)); cat != nil {
				got = strings.Join(cat.Names(), " ")
				if partial := cat.WhyPartial() != ""; partial != (c.method == "rpc_modules") {
					t.Errorf("%s: partial is %v", c.method, partial)
				}
				if cat.Catalog != 1 {
					t.Errorf("%s: a catalog of version %d", c.method, cat.Catalog)
				}
			}
			if got != c.want {
				t.Errorf("%s with the result %s: %q, want %q", c.method, c.result, got, c.want)
			}
		}
	}
	if got := string(paramsOf([]byte(`[{"name":"a"},{"name":"b","default":1},{"name":"c","kwargs":true},{"name":"d","varargs":true},7]`))); got !=
		`{"type":"object","properties":{"a":{},"b":{"default":1}},"required":["a"]}` {
		t.Errorf("params: %s", got)
	}
	m := catalog.Method{}
	signed(&m, []byte(`[["array","int","unknown"]]`))
	if string(m.Params) != `{"type":"array","prefixItems":[{"type":"integer"},{}],"minItems":2,"maxItems":2}` || string(m.Result) != `{"type":"array"}` {
		t.Errorf("%s -> %s", m.Params, m.Result)
	}
	for _, odd := range []string{`"undef"`, `[]`, `[[]]`, `{}`, `null`} {
		m = catalog.Method{}
		if signed(&m, []byte(odd)); m.Params != nil {
			t.Errorf("%s: %s", odd, m.Params)
		}
	}
}
