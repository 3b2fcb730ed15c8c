package redact

import (
	"bytes"
	"encoding/json"
	"testing"

	"rpcx/wire/testkit"
)

func TestJSON(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"a":1}`, `{"a":1}`},
		{`{"password":"x"}`, `{"password":"…"}`},
		{`{"params":[{"Api-Key" : "x" , "b":2},{"db_password":{"deep":[1,"2"]}}]}`, `{"params":[{"Api-Key":"…","b":2},{"db_password":{"deep":[1,"…"]}}]}`},
		{`{"a" : "b"}`, `{"a" : "b"}`},
		{`{"pass\u0077ord":"x","secrets":["a"],"clientSecret":5}`, `{"pass\u0077ord":"…","secrets":["…"],"clientSecret":5}`},
		{`{"accessToken":"x","token":"y","max_tokens":5,"token":17,"progressToken":"p","workDoneToken":"w"}`, `{"accessToken":"…","token":"…","max_tokens":5,"token":17,"progressToken":"p","workDoneToken":"w"}`},
		{`{"headers":{"Authorization":"Bearer abc","Cookie":"a=b","X":"Bearer abc","Y":"bearer of news"}}`, `{"headers":{"Authorization":"…","Cookie":"…","X":"…","Y":"bearer of news"}}`},
		{`["password","x",{"hasPassword":true,"password":null}]`, `["password","x",{"hasPassword":true,"password":null}]`},
		{`{"auth":"x","basicAuth":{"u":1},"jwt":"a.b.c","otp":123456,"mnemonic":["a"],"author":"y","oauth":false}`, `{"auth":"…","basicAuth":{"u":1},"jwt":"…","otp":123456,"mnemonic":["…"],"author":"y","oauth":false}`},
		{`{"h":["Authorization: Basic YTpi","Basic YTpi","Accept: x"]}`, `{"h":["…","…","Accept: x"]}`},
		{`{"a":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln","b":"eyJ"}`, `{"a":"…","b":"eyJ"}`},
		{`["postgres://ada:hunter2@db/x","http://db/x","ada@example.com","a sk-abcdefghijklmnopqrstuvwx b"]`, `["…","http://db/x","ada@example.com","…"]`},
		{`["ghp_abcdefghijklmnopqrstuvwxyz0123456789","-----BEGIN RSA PRIVATE KEY-----\nx","-----BEGIN CERTIFICATE-----"]`, `["…","…","-----BEGIN CERTIFICATE-----"]`},
		{`{"password":"x`, `{"password":"…`},
		{`{"password":`, `{"password":`},
		{`{"password":{"a":x,"b":"c"},"d":"e"}`, `{"password":"…","d":"e"}`},
		{`{"a":1,"password":[1,2`, `{"a":1,"password":"…"`},
		{`{"password":nul,"d":"e"}`, `{"password":nul,"d":"e"}`},
		{`"`, `"`},
		{``, ``},
		{`plain text`, `plain text`},
	}
	for _, test := range tests {
		testkit.Expect(t, test.in, string(JSON([]byte(test.in))), test.want)
	}
}

// Redacted JSON is valid JSON without the values of secret names.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[{"token":"s3cr3t"}],"b":"Bearer s3cr3t"}`))
	f.Add([]byte(`{"password":["s3cr3t",{"x":1}]}`))
	f.Fuzz(func(t *testing.T, msg []byte) {
		got := JSON(msg)
		if json.Valid(msg) && !json.Valid(got) {
			t.Fatalf("%q became %q", msg, got)
		}
		if again := JSON(got); json.Valid(msg) && !bytes.Equal(again, got) {
			t.Fatalf("%q became %q", got, again)
		}
	})
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "DB_PASSWORD": true, "api-key": true, "X-Api.Key": true, "accessToken": true, "pwd": true,
		"user": false, "max_tokens": false, "progressToken": false, "next-token": false, "pwdless": false,
	} {
		testkit.Expect(t, name, SecretName(name), want)
	}
}

// In headers and URLs, more names mean secrets.
func TestSecretField(t *testing.T) {
	for name, want := range map[string]bool{
		"X-Auth-Key": true, "X-Functions-Key": true, "Ocp-Apim-Subscription-Key": true, "key": true, "Authorization": true, "sig": true,
		"Sec-WebSocket-Key": false, "Sec-WebSocket-Accept": false, "Idempotency-Key": false, "Surrogate-Key": false, "X-Cache-Key": false,
		"Content-Type": false, "keyword": false,
	} {
		testkit.Expect(t, name, SecretField(name), want)
	}
}

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"ws://ada:hunter2@host:1/x?token=t&v&n=": "ws://…@host:1/x?token=…&v&n=",
		"mcp+https://hunter2@host":               "mcp+https://…@host",
		"https://host/@me?q=a@b":                 "https://host/@me?q=…",
		"/x?key=1#a":                             "/x?key=…",
		"ws+unix:s.sock:/x?key=1":                "ws+unix:s.sock:/x?key=…",
		"unix:s.sock":                            "unix:s.sock",
		"exec:a b?c=d":                           "exec:a b?c=d",
		`mcp+exec:a '{"password":"hunter2"}'`:    `mcp+exec:a '{"password":"…"}'`,
		"":                                       "",
		"ws://@h/":                               "ws://…@h/",
		"http:///p@q?token=x":                    "http:///p@q?token=…",
		"http://u@h?a=b#x":                       "http://…@h?a=…",
	} {
		if got := Address(text); got != want || Address(got) != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}
