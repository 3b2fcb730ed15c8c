package redact

import (
	"testing"

	"rpcx/wire/testkit"
)

func TestNumbering(t *testing.T) {
	const jwt, key = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	for _, c := range []struct{ in, want string }{
		{`{"token":"a","again":{"password":"a"},"other":{"secret":"b"},"name":"a"}`, `{"token":"…1","again":{"password":"…1"},"other":{"secret":"…2"},"name":"a"}`},
		{`{"passwordChangeMaxUSec":18446744073709551615,"pin":1234,"token":true,"otp":null,"password":""}`, `{"passwordChangeMaxUSec":18446744073709551615,"pin":1234,"token":true,"otp":null,"password":""}`},
		{`{"progressToken":"p","workDoneToken":"w"}`, `{"progressToken":"p","workDoneToken":"w"}`},
		{`{"method":"$/progress","params":{"token":"t","value":{"password":"p"}}}`, `{"method":"$/progress","params":{"token":"t","value":{"password":"…1"}}}`},
		{`{"method":"login","params":{"token":"t"}}`, `{"method":"login","params":{"token":"…1"}}`},
		{`{"sessionId":"s","pin":"1","cvv":"2","signature":"x","Mcp-Session-Id":"m","pinned":"y"}`, `{"sessionId":"…1","pin":"…2","cvv":"…3","signature":"…4","Mcp-Session-Id":"…5","pinned":"y"}`},
		{`["Authorization","abc"]`, `["Authorization","…1"]`},
		{`["X-Api-Key","abc"]`, `["X-Api-Key","…1"]`},
		{`{"required":["password","email"]}`, `{"required":["password","email"]}`},
		{`{"name":"Authorization","value":"abc"}`, `{"name":"Authorization","value":"…1"}`},
		{`{"value":"abc","key":"api_key"}`, `{"value":"…1","key":"api_key"}`},
		{`{"name":"colour","value":"red"}`, `{"name":"colour","value":"red"}`},
		{`["` + jwt + `","a ` + key + ` b","ghp_short"]`, `["…1","…2","ghp_short"]`},
		{`["-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----","-----BEGIN CERTIFICATE-----"]`, `["…1","-----BEGIN CERTIFICATE-----"]`},
		{`["postgres://ada:hunter2@db/x","http://db/x","ada@example.com"]`, `["…1","http://db/x","ada@example.com"]`},
		{`["Bearer abc","basic YTpi","the bearer said","Basic training","Bearer abc"]`, `["…1","…2","the bearer said","Basic training","…1"]`},
		{`["https://h/?token=abc&x=1","a token = b","token==x","x=1","--password=x"]`, `["…1","a token = b","token==x","x=1","…2"]`},
		{`{"body":"{\"password\":\"x\"}","other":"{\"a\":1}","broken":"{\"password\":"}`, `{"body":"…1","other":"{\"a\":1}","broken":"{\"password\":"}`},
		{`["Cookie: a=b","Accept: x","invalid token: expected }"]`, `["…1","Accept: x","invalid token: expected }"]`},
	} {
		testkit.Expect(t, c.in, string(new(Numbering).JSON([]byte(c.in))), c.want)
	}
	n := Numbering{Sessions: true, Last: 4}
	if got := string(n.JSON([]byte(`{"sessionId":"a","password":"b"}`))); got != `{"sessionId":"a","password":"…5"}` || LastMark([]byte(got)) != 5 {
		t.Error(got)
	}
	for text, want := range map[string]int{"…": 0, "…7": 7, "…07": 7, "…x": -1, "…+1": -1, "x": -1, "…-1": -1} {
		number, is := IsMark(text)
		if !is {
			number = -1
		}
		testkit.Expect(t, text, number, want)
	}
}
