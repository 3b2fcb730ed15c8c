package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// Each string has a secret, which Text replaces.
func TestSecretsInStrings(t *testing.T) {
	const (
		jwt  = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"
		long = "abcdefghijklmnopqrstuvwxyz0123456789ABCD"
	)
	for in, want := range map[string]string{
		"token " + jwt + " expired":                    "token … expired",
		"(" + jwt + ")":                                "(…)",
		jwt + ".a.b":                                   "…",
		"ghp_" + long:                                  "…",
		"see github_pat_11AB" + long + "_x.":           "see ….",
		"glpat-aBcDeFgHiJkLmNoPqRsT":                   "…",
		"key sk-ant-api03-" + long + "-x":              "key …",
		"sk-abcdefghijklmnopqrstuvwx":                  "…",
		"sk_live_4eC39HqLyjWDarjtT1zdp7dc":             "…",
		"xoxb-1234567890-abcdef":                       "…",
		"AKIAIOSFODNN7EXAMPLE":                         "…",
		"Credential=AKIAIOSFODNN7EXAMPLE/20260101/eu":  "Credential=…",
		"?key=AIzaSyA-1234567890abcdefghijklmnopqrstu": "?key=…",
		"ya29.a0AfH6SMBx-1234567890":                   "…",
		"hvs.CAESIJ1234567890abcdefgh":                 "…",
		"npm_abcdefghijklmnopqrstuvwxyz0123456789":     "…",
		"hf_abcdefghijklmnopqrstuvwxyzABCDEFGH":        "…",
		"GOCSPX-1234567890abcdefghij":                  "…",
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw":       "…",
		"x -----BEGIN OPENSSH PRIVATE KEY-----\nb3\n-----END OPENSSH PRIVATE KEY-----\ny": "x …\ny",
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ":                                       "…",
		"postgres://ada:hunter2@db:5432/x":                                                "postgres://…@db:5432/x",
		"redis://:hunter2@db":                                                             "redis://…@db",
		"clone https://ada:p%40ss@git.example/x.git now":                                  "clone https://…@git.example/x.git now",
		"https://" + long + "@git.example/x.git":                                          "https://…@git.example/x.git",
		"https://h/cb?code=4/0AX4&state=7":                                                "https://h/cb?code=…&state=7",
		"https://h/?a=b&access_token=x&c=d":                                               "https://h/?a=b&access_token=…&c=d",
		"https://h/b?X-Amz-Signature=ab12&X-Amz-Date=1":                                   "https://h/b?X-Amz-Signature=…&X-Amz-Date=1",
		"DB_PASSWORD=x":                                  "DB_PASSWORD=…",
		"A=1\nAPI_KEY=x\nB=2":                            "A=1\nAPI_KEY=…\nB=2",
		`password="two words" x`:                         `password="…" x`,
		"host=db user=ada password=hunter2":              "host=db user=ada password=…",
		"Server=db;Password=hunter;x=1":                  "Server=db;Password=…;x=1",
		"deploy --password hunter2 -v":                   "deploy --password … -v",
		"deploy --api-key=abc":                           "deploy --api-key=…",
		"curl -H 'Authorization: Bearer abc' https://h":  "curl -H 'Authorization: …' https://h",
		"GET / HTTP/1.1\r\nCookie: a=b\r\nAccept: x\r\n": "GET / HTTP/1.1\r\nCookie: …\r\nAccept: x\r\n",
		"the Bearer word; Authorization: Bearer abc123":  "the Bearer word; Authorization: Bearer …",
		"Bearer s3cr3t-t0ken":                            "Bearer …",
		"BEARER abc123":                                  "BEARER …",
		"Basic YWRhOmh1bnRlcjI=":                         "Basic …",
		"X-Api-Key: abc":                                 "X-Api-Key: …",
		`failed: {"password":"hunter2","user":"ada"}`:    `failed: {"password":"…","user":"ada"}`,
		"{'api_key': 'abc'}":                             "{'api_key': '…'}",
		`said {\"token\":\"abc\"}`:                       `said {\"token\":\"…\"}`,
		"db:\n  password: hunter2\n":                     "db:\n  password: …\n",
		"postgres://ada:%21hunter2@db/x":                 "postgres://…@db/x",
		"postgres://ada:$ecr3t@db/x":                     "postgres://…@db/x",
		"amqp://ada:a<hunter2@h":                         "amqp://…@h",
		"x DB_PASSWORD=Xy7(k2p9":                         "x DB_PASSWORD=…",
		"docker run -e MYSQL_ROOT_PASSWORD=letmein x":    "docker run -e MYSQL_ROOT_PASSWORD=… x",
		"Cookie: sid=8f3c9a; __utmz=utmcsr=(direct)\r\n": "Cookie: …\r\n",
		"ci-AKIAIOSFODNN7EXAMPLE":                        "ci-…",
	} {
		if !HasSecret([]byte(in)) {
			t.Errorf("%q has no secret", in)
		}
		testkit.Expect(t, in, string(Spans([]byte(in))), want)
		if got := string(Text([]byte(in))); strings.Contains(got, "hunter2") || HasSecret([]byte(got)) {
			t.Errorf("%q: Text returned %q", in, got)
		}
	}
}

// These strings contain no secrets, only words from protocols, programs, paths and hashes.
func TestHarmlessStrings(t *testing.T) {
	for _, in := range []string{
		"", "token", "eyJwYWdlIjoyfQ", "eyJwYWdlIjoyfQ==", "eyJhIjoxfQ.eyJ", "heyJude.records.com",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934c",
		"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==", "4f8b7a3e-0b1c-4d2e-9f3a-5b6c7d8e9f00",
		"git@github.com:ada/repo.git", "ssh://git@github.com:22/ada/repo.git", "https://git@example.com/x.git", "mailto:ada@example.com",
		"https://h:8080/@scope/pkg@1.2.3", "http://[::1]:80/a@b", "file:///C:/Users/ada/x@y.txt", "file:///home/ada/%40types/node", "npm:@scope/pkg@1.0.0",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "sk-circle-fuzzy-dot-and-more-dots", "task-abcdefghijklmnopqrstuvw",
		"npm_config_registry_something_long_name", "ghp_short", "AKIA", "AIzawa", "risk-averse-people-buy-bonds", "hf_hub_download_and_more_of_that",
		"bearer of news", "the bearer said", "Basic training", "Basic authentication", "Bearer token", `Bearer realm="x", error="invalid_token"`,
		"const token=getToken();", "if (token==x) return", "password=config.get(x)", "f(token=tok, password=pw)", "TOKEN=$TOKEN", "--password <password>", "password=", "max_tokens=4096",
		"use --password to set one", "Authorization: Bearer ${TOKEN}", "Authorization: Bearer <token>", "invalid token: expected }", "Access-Control-Allow-Credentials: true",
		"X-Request-Id: 4f8b7a3e", "cursor=eyJwYWdlIjoyfQ&limit=5", "next_page_token=abc&x=1", "?page_token=3", "\"token\": 5", "{\"password\":{\"type\":\"string\"}}", "{\"maxTokens\":5}",
		"password: required", "secret: true", "${PASSWORD}@x", "postgres://${USER}:${PASSWORD}@db/x", "postgres://user:@db/x", "=====", "@", ":", "--", "…", "token=…", "x://…@h",
		"the flag --token " + strings.Repeat("a", decides) + " is set",
	} {
		if HasSecret([]byte(in)) {
			t.Errorf("%q has a secret: %q", in, Spans([]byte(in)))
		}
	}
}

// Each prefix begins a secret if enough bytes follow it.
func TestPrefixes(t *testing.T) {
	known := 0
	for least, all := range map[int]string{
		10: "xapp- xoxa- xoxb- xoxe- xoxp- xoxr- xoxs-", 16: "sk_live_ rk_live_ sk_test_ rk_test_", 18: "glpat- glrt- gldt- glptt-",
		20: "sk- whsec_ GOCSPX- ya29. hvs. SG.", 30: "ghp_ gho_ ghs_ ghu_ ghr_ github_pat_ npm_ hf_ pypi- shpat_ shpss_ lin_api_ glsa_", 40: "dop_v1_",
	} {
		for prefix := range strings.FieldsSeq(all) {
			known++
			key := prefix + strings.Repeat("a", least)
			if !HasSecret([]byte(key)) || HasSecret([]byte(key[:len(key)-1])) {
				t.Errorf("%s with %d bytes", prefix, least)
			}
		}
	}
	testkit.Expect(t, "prefixes that were tested", known, len(prefixes))
}

// Messages appear on a tape in this form.
func TestHostileMessages(t *testing.T) {
	for in, want := range map[string]string{
		`{"method":"window/workDoneProgress/create","params":{"token":"t"}}`:                                                                    "",
		`{"method":"textDocument/hover","params":{"workDoneToken":"w1","partialResultToken":"p1"}}`:                                             "",
		`{"params":{"_meta":{"progressToken":"p"},"cursor":"eyJwYWdlIjoyfQ"}}`:                                                                  "",
		`{"result":{"nextCursor":"abc","nextPageToken":"x","continuationToken":"y","resultId":"z"}}`:                                            "",
		`{"eos_token":"</s>","tokenType":"Bearer","token_endpoint":"https://h/token","authorization_servers":["https://h"]}`:                    "",
		`{"flows":{"authorizationCode":{"authorizationUrl":"https://h/a","tokenUrl":"https://h/t","scopes":{"read":"Read"}}}}`:                  "",
		`{"inputSchema":{"properties":{"password":{"type":"string","description":"the password"},"token":{"$ref":"#/t"}}}}`:                     "",
		`{"signatures":[{"label":"f(x)"}],"signature":"(a: int) -> str","pin":"A0","secretary":"Bob"}`:                                          "",
		`{"sha256":"e3b0c44298fc1c14","uri":"file:///x/token.go","etag":"W/\"5\"","handle":"h-1","mimeType":"image/png","data":"iVBORw0KGgo="}`: "",
		`{"allowedHeaders":["Authorization","Content-Type"],"required":["password","email"],"enum":["cookie","bearer"]}`:                        "",
		`{"variables":[{"name":"x","value":"5","type":"int"}]}`:                                                                                 "",
		`{"rawHeaders":["Host","h","Cookie","a=b","X-Api-Key","k"]}`:                                                                            `{"rawHeaders":["Host","h","Cookie","…1","X-Api-Key","…2"]}`,
		`{"Headers":[{"Name":"Authorization","Value":"abc"}]}`:                                                                                  `{"Headers":[{"Name":"Authorization","Value":"…1"}]}`,
		`{"args":["--user","ada","--password","x","--token","-v"]}`:                                                                             `{"args":["--user","ada","--password","…1","--token","-v"]}`,
		`{"env":["DB_PASSWORD=x","HOME=/root"]}`:                                                                                                `{"env":["…1","HOME=/root"]}`,
		`{"env":{"GITHUB_TOKEN":"x","PATH":"/bin"}}`:                                                                                            `{"env":{"GITHUB_TOKEN":"…1","PATH":"/bin"}}`,
		`{"pin":"1234","signature":"aGVsbG8=","cvc":"123"}`:                                                                                     `{"pin":"…1","signature":"…2","cvc":"…3"}`,
		`{"text":"{\"secrets\":[\"a\"]}"}`:                                                                                                      `{"text":"…1"}`,
		`{"text":"https:\/\/ada:hunter2@h\/"}`:                                                                                                  `{"text":"…1"}`,
		`{"text":"token\u003dabc"}`:                                                                                                             `{"text":"…1"}`,
		`{"a\u0070i_key":"x"}`:                                                                                                                  `{"a\u0070i_key":"…1"}`,
		`{"credentials":{"user":"ada","password":"x","port":5}}`:                                                                                `{"credentials":{"user":"…1","password":"…2","port":5}}`,
		`{"password":"…7"}`: "",
		`{"a":["Cookie","sid=8f3c9a1b; cookie_consent=true","X-Api-Key","my-secret-key-77aa41"]}`: `{"a":["Cookie","…1","X-Api-Key","…2"]}`,
		`{"token":{"type":"string","value":"hunter2"}}`:                                           `{"token":{"type":"…1","value":"…2"}}`,
	} {
		if want == "" {
			want = in
		}
		got := string(new(Numbering).JSON([]byte(in)))
		testkit.Expect(t, in, got, want)
		if suspect, valid := suspicious([]byte(in)); !valid || !suspect && in != want {
			t.Errorf("%s is not suspicious", in)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s became %s", in, got)
		}
	}
}

// BenchmarkHasSecret measures strings without secrets: prose, a program and a hash.
func BenchmarkHasSecret(b *testing.B) {
	for name, text := range map[string]string{
		"prose":   "The server answers each request in the order in which it came; a client that ends early gets none. See section 4.2, or ask (by mail).",
		"program": "func (s *Server) get_item(ctx context.Context, id string) (*Item, error) {\n\tfor i := range s.items { if s.items[i].id == id { return s.items[i], nil } }\n}\n",
		"hash":    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			text := []byte(text)
			for b.Loop() {
				if HasSecret(text) {
					b.Fatal(text)
				}
			}
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte(`x "password": "a" Bearer abc123 https://u:p@h?token=x -----BEGIN PRIVATE KEY----- AIzaSyA-1234567890abcdefghijklmnopqrstu`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for i := range b {
			if from, to := find(b, i); to < 0 || to > len(b) || from < 0 || to > 0 && from >= to {
				t.Fatalf("%q: %d to %d", b, from, to)
			}
			if n := Settled(b[:i]); n < 0 || n > i {
				t.Fatalf("%q: %d bytes of %d are settled", b, n, i)
			}
		}
		_ = Text(b)
	})
}

// Hostile strings take linear time, such as nested JSON and anchors without secrets.
func TestHostileStringsAreFast(t *testing.T) {
	testkit.RaceSkips(t)
	nested := `{"pin":"1"}`
	for range 40 {
		nested = `["` + strings.NewReplacer(`\`, `\u005c`, `"`, `\u0022`).Replace(nested) + `"]`
	}
	const size = 1 << 20
	for _, text := range []string{
		nested, strings.Repeat("-", size), strings.Repeat("AIza", size/4), strings.Repeat("sk-", size/3),
		" " + strings.Repeat("token=", size/6), " " + strings.Repeat("secret:", size/7), strings.Repeat("@", size), strings.Repeat("--password ", size/11),
	} {
		Text([]byte(text))
		new(Numbering).JSON([]byte(nested))
	}
}

// A value looks random from six characters with one digit and one letter on, or from 20 with both kinds of letters.
func TestLooksRandom(t *testing.T) {
	for val, want := range map[string]bool{
		"1bcdef": true, "a12345": true, "A12345": true, "abcdef": false, "123456": false, "1bcde": false, "ABCDEF-": false,
		"A" + strings.Repeat("b", 19): true, "a" + strings.Repeat("B", 19): true, "a" + strings.Repeat("B", 18): false,
		strings.Repeat("a", 20): false, strings.Repeat("B", 20): false,
	} {
		testkit.Expect(t, val, looksRandom([]byte(val)), want)
	}
}
