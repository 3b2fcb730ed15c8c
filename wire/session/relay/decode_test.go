package relay

import (
	"encoding/json"
	"reflect"
	"testing"

	"rpcx/wire/scan"
)

// TestHandWrittenCodecs: the hand-written encoders and decoders agree with encoding/json.
func TestHandWrittenCodecs(t *testing.T) {
	since := int64(7)
	for _, op := range []wireOp{
		{},
		{Op: "call", Method: "é\n\"<", Params: json.RawMessage("{ \"a\" : [1,\n 2.50 ] }")},
		{
			Op: "subscribe", Method: "m", Params: json.RawMessage(`[]`), Code: "c", Job: "j", Unsubscribe: "u", With: json.RawMessage(` "w" `),
			Lasting: true, Beside: "b", Extra: json.RawMessage(`{"x": null}`), Since: &since, Hook: "h", Nested: true,
		},
		{Op: "eval", Funcs: map[string]string{"f": "g"}},
	} {
		if got, want := string(op.json()), string(scan.JSON(op)); got != want {
			t.Errorf("%+v is written as\n%s\nand not as\n%s", op, got, want)
		}
	}
	for _, raw := range []string{
		`{"version":"1","dialect":"d","endpoint":"e\u00e9","session":"s","fingerprint":"f","answers":{"of":"o","private":true}}`,
		`{"dialect":"d","endpoint":"e"}`, `{"dialect":"d","endpoint":"e","answers":{"private":false},"more":{"of":1}}`,
		`{"Dialect":"d","endpoint":"e","answers":null}`, `{"dialect":7}`, `{}`, `null`, `[]`, `"d"`,
	} {
		var want Hello
		wantErr := json.Unmarshal([]byte(raw), &want)
		got, err := helloOf(json.RawMessage(raw))
		if got != want || (err == nil) != (wantErr == nil) {
			t.Errorf("%s is read as %+v, %v, and not as %+v, %v", raw, got, err, want, wantErr)
		}
	}
	for _, raw := range []string{
		`{"kind":3,"final":true,"at":[35,38],"msg":{"result":[1]}}`, `{"kind":1,"final":false,"method":"m","at":[ 3 , 8 ],"msg":[ 1 ]}`,
		`{"kind":2,"text":"a\nb","at":[0,1]}`, `{"kind":2,"event":{"event":"gap","missed":3},"msg":{}}`, `{"kind":2,"fault":{"kind":"protocol"}}`,
		`{"kind":-1}`, `{"kind":300}`, `{"kind":"3"}`, `{"kind":3,"final":1}`, `{"kind":3,"at":[1]}`, `{"kind":3,"at":[1,2,3]}`, `{"kind":3,"at":null}`,
		`{"kind":3,"text":null}`, `{"kind":3,"msg":null}`, `{"Kind":3,"more":{}}`, `{}`, `null`, `7`,
	} {
		var want packed
		wantErr := json.Unmarshal([]byte(raw), &want)
		got, err := packedOf(json.RawMessage(raw))
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, %v, and not as %+v, %v", raw, got, err, want, wantErr)
		}
	}
}
