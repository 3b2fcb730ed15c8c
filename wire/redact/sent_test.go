package redact

import (
	"net/http"
	"testing"

	"rpcx/wire/testkit"
)

// A secret that was sent is masked in received data, in any spelling. Short values do not count as secrets.
func TestSent(t *testing.T) {
	testkit.Expect(t, "before a secret was sent", Known("nothing was sent: t0k3n-one"), "nothing was sent: t0k3n-one")
	SentHeader(http.Header{
		"Authorization": {"Bearer t0k3n-one"}, "Proxy-Authorization": {"Basic YWRhOmh1bnRlci0y"}, "Cookie": {`sid=c00kie-1; x="y"`},
		"X-Api-Key": {`k3y"two`}, "Accept": {"application/json"},
	})
	SentQuery("key=a%2Fb+c%2Fd&q=weather&sig=s1gnature&n=1")
	for in, want := range map[string]string{
		"GET /?key=a%2Fb+c%2Fd&q=weather HTTP/1.1": "GET /?key=…&q=weather HTTP/1.1",
		"Authorization: Bearer t0k3n-one":          "Authorization: Bearer …",
		`{"you sent":"k3y\"two","or":"hunter-2"}`:  `{"you sent":"…","or":"…"}`,
		"sid=c00kie-1; YWRhOmh1bnRlci0y a/b c/d":   "sid=…; … …",
		"application/json 1 y s1gnature":           "application/json 1 y …",
	} {
		testkit.Expect(t, in, Known(in), want)
		testkit.Expect(t, in, string(KnownBytes([]byte(in))), want)
	}
}

// Another process learns the secrets themselves, because it may show them in another spelling.
func TestRepeated(t *testing.T) {
	Sent(`r3pe"at\ed`)
	for _, in := range []string{
		`r3pe"at\ed`,
		`{"message":"bad key r3pe\"at\\ed"}`,
		`{"message":"the peer sent {\"key\":\"r3pe\\\"at\\\\ed\"}"}`,
		`{"url":"/?key=r3pe%22at%5Ced"}`,
	} {
		if got := Repeated([]byte(in)); len(got) != 1 || got[0] != `r3pe"at\ed` {
			t.Errorf("%s: %q", in, got)
		}
	}
}
