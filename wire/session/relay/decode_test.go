package relay

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestHandWrittenDecoder checks that the decoder agrees with encoding/json.
func TestHandWrittenDecoder(t *testing.T) {
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
			t.Errorf("%s: got %+v, %v; want %+v, %v", raw, got, err, want, wantErr)
		}
	}
}
