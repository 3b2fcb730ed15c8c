package transcript

import (
	"bytes"
	"testing"

	"rpcx/wire"
)

// FuzzRead checks that any tape is read or rejected with a fault, and that all of a transcript can be read.
func FuzzRead(f *testing.F) {
	for _, lines := range []string{
		`{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}` + "\n" + `{"t":1,"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":{"subscription":"s"}}}` + "\n" +
			`{"t":2,"dir":"recv","msg":{"jsonrpc":"2.0","method":"i","params":{"subscription":"s","result":1}}}`,
		`{"dir":"send","msg":[{"id":1,"method":"a"},{"id":2,"method":"b"}]}` + "\n" + `{"dir":"recv","msg":[{"id":2,"result":1},{"id":1,"error":{"code":1}}]}`,
		`{"open":{"endpoint":"x"}}` + "\n" + `{"dir":"recv","close":{"code":1000}}`, `{"conn":7,"dir":"recv","text":"a\n"}`, `{"dir":"recv","base64":"/wA="}`,
		`{"dir":"send","match":".id == 1","bind":{"k":".k"},"name":"n"}` + "\n" + `{"dir":"recv","msg":{"id":1,"result":"${k}"},"vars":true,"re":"n"}`, `{"dir":"send","msg":`,
	} {
		f.Add([]byte(`{"tape":1}` + "\n" + lines))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		tr, err := Read(bytes.NewReader(in), "x", rules)
		if err != nil {
			if wire.AsFault(err) == nil {
				t.Fatalf("%v is not a fault", err)
			}
			return
		}
		defer tr.Close()
		for _, track := range tr.Tracks {
			for i := range track.Len() {
				if _, err := track.Message(i); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
