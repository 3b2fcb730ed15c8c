package serve

import (
	"encoding/json"
	"slices"
	"testing"

	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

// A notification whose params do not fit runs no hook, and there is a warning with the client's name if there may be
// several.
func TestUnfitNotificationsAreTold(t *testing.T) {
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
			t.Errorf("%q: %v, told %q", client, err, told)
		}
	}
}
