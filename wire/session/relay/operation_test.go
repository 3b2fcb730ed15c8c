package relay

import (
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// FuzzOperation checks that any request on the socket is an operation or a usage error, and that the functions in it belong to its process.
func FuzzOperation(f *testing.F) {
	for _, s := range []string{
		`{"op":"call","method":"m","params":{"a":1},"funcs":{"/a":"h"},"known":{"catalog":1,"methods":[{"name":"h"}]}}`, `{"op":"watch","since":3,"beside":"x"}`,
		`{"op":"job.run","job":"j","extra":{}}`, `{"op":"eval","code":"1","hook":"h3"}`, `{"op":"raw","params":[]}`, `{"op":"x"}`, `[]`, `{"op":"call","known":{"methods":[{}]}}`, ``, `null`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		h := &Process{socket: &Socket{Functions: &Functions{}}}
		op, _, err := h.readOp(&dialect.Inbound{Msg: wire.Message{Params: params}})
		if err != nil {
			if fault := wire.AsFault(err); fault == nil || fault.Kind != wire.Usage {
				t.Fatalf("%v is not a usage fault", err)
			}
			return
		}
		for at, name := range op.Funcs {
			if !strings.HasPrefix(name, functionPrefix) {
				t.Errorf("%s is bound to %q, which a user can also define", at, name)
			}
		}
		if _, err := op.Kind.MarshalText(); err != nil {
			t.Errorf("%s: an operation that the socket does not accept", params)
		}
		h.socket.forget(h)
	})
}
