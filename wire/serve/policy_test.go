package serve

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

// A class is hidden if all of its members are denied.
func TestAllowedClasses(t *testing.T) {
	for _, c := range []struct {
		allow, deny, class string
		want               bool
	}{
		{"", "", "C", true},
		{"", "C.*", "C", false},
		{"", "C.get", "C", true},
		{"", "*", "C", false},
		{"C.get", "", "C", true},
		{"C.*", "", "C", true},
		{"*", "", "C", true},
		{"D.*", "", "C", false},
		{"Config.get", "", "C", false},
		{"C.get", "C.*", "C", false},
	} {
		o := Options{Allow: strings.Fields(c.allow), Deny: strings.Fields(c.deny)}
		testkit.Expect(t, "allow "+c.allow+", deny "+c.deny+": the class "+c.class, o.allowsClass(c.class), c.want)
	}
	testkit.Expect(t, "unmatched", strings.Join(Unmatched([]string{"a", "b*", "c", "*d"}, []string{"bb", "xd", "a"}), " "), "c")
}

// A notification with invalid params starts no hook. If there can be several clients, the warning names the client.
func TestInvalidNotificationsAreReported(t *testing.T) {
	for client, want := range map[string]string{
		"":         "notification add: invalid params: lacks \"b\" (code -32602)",
		"client:1": "client:1: notification add: invalid params: lacks \"b\" (code -32602)",
	} {
		var told []string
		o := Options{Catalog: testkit.Catalog(t, checked), Check: true, Warn: func(text string) { told = append(told, text) }}
		r := bind(t, o, caller{}, "add=json:3").(*responder)
		r.client = client
		_, err := r.Respond(t.Context(), dialect.Request{Method: "add", Params: json.RawMessage(`{"a":1}`), Notification: true})
		if err == nil || !slices.Equal(told, []string{want}) {
			t.Errorf("%q: %v, reported %q", client, err, told)
		}
	}
}
