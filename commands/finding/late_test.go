package finding

import (
	"bytes"
	"fmt"
	"net"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/scan"
)

// rpcx recognises a language server that needs a second for initialize, although it responds to other requests at once.
func TestALateHandshakeIsRecognised(t *testing.T) {
	t.Parallel()
	at := raw(t, func(c net.Conn) {
		in := framing.Header(c, wire.Options{})
		for {
			msg, err := in.Recv()
			if err != nil {
				return
			}
			id := bytes.Clone(scan.Get(msg, "id"))
			if !bytes.Contains(msg, []byte(`"initialize"`)) {
				_ = in.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, id))
				continue
			}
			answer := func() {
				_ = in.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"capabilities":{"hoverProvider":true},"serverInfo":{"name":"late"}}}`, id))
			}
			time.AfterFunc(time.Second, answer)
		}
	})
	if r := probe(t, at, 8*time.Second); r.Endpoint == nil || r.Endpoint.Dialect != "lsp" {
		t.Errorf("found %v", r.Endpoint)
	}
}
