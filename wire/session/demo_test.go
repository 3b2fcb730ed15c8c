package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
	"rpcx/wire/serve"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// TestDemosAreRight checks that the hooks of each demo compile, that its schemas are valid, and that its dialect is the one in its catalog.
func TestDemosAreRight(t *testing.T) {
	for _, name := range serve.DemoNames() {
		c := serve.Demo(name)
		if _, err := hook.FromCatalog(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		doc, err := c.Marshal()
		testkit.OK(t, err)
		for i := range c.Methods {
			places := []string{"params", "result"}
			for kind := range c.Methods[i].Events {
				places = append(places, "events/"+scan.Escape(kind))
			}
			for _, place := range places {
				_, err := schema.Compile(doc, fmt.Sprintf("/methods/%d/%s", i, place), schema.Options{Warn: func(text string) { t.Error(name, text) }})
				if err != nil && !strings.Contains(err.Error(), "nothing found at") {
					t.Errorf("%s: %s: %v", name, c.Methods[i].Name, err)
				}
			}
		}
		if d, ok := serve.DemoDialect(name); !ok || d != c.Dialect {
			t.Errorf("%s: dialect %q, not %q", name, d, c.Dialect)
		}
	}
}

// "@" is the parent process's endpoint. An unknown name is an error.
func TestParseEndpointNames(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("RPCX_ENDPOINT", "conversation:/run/x#h3")
	e, err := ParseEndpoint("@", "")
	if err != nil || e.Socket != "/run/x" || e.Hook != "h3" || e.String() != "conversation:/run/x" {
		t.Errorf("@: %v, %v", e, err)
	}
	t.Setenv("RPCX_ENDPOINT", "")
	for text, want := range map[string]string{"@": "RPCX_ENDPOINT", "@name": "name"} {
		_, err := ParseEndpoint(text, "")
		f := wire.AsFault(err)
		if f == nil || (f.Kind != wire.Usage && f.Kind != wire.Unreachable) || !strings.Contains(f.Message, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A peer that does not send its part of the handshake causes a timeout after 15 s.
func TestHandshakeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := newDirect(endpoint.Endpoint{Dialect: "jsonrpc"}, Options{})
		testkit.OK(t, err)
		codec := d.newCodec
		d.newCodec = func() dialect.Codec { return handshaker{codec()} }
		here, silent := transport.Pair()
		defer silent.Close()
		d.dial = func(context.Context, recording) (wire.Conn, func() error, error) { return here, nil, nil }
		began := time.Now()
		testkit.Expect(t, "the handshake", testkit.Failed(d.start(t.Context())), "failed timeout")
		if lasted := time.Since(began); lasted < handshakeTimeout || lasted > handshakeTimeout+5*time.Second {
			t.Error(lasted)
		}
	})
}
