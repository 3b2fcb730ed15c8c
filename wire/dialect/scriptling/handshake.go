package scriptling

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Version is the supported protocol version.
const Version = "1.0"

// handshakeParams returns the params of a host's handshake.
func handshakeParams() json.RawMessage {
	var o scan.Object
	o.Text("protocol", Version)
	o.Text("host", "scriptling")
	o.Text("host_version", "rpcx")
	o.Add("transports", []byte(`["json"]`))
	o.Add("capabilities", []byte(`["remote_objects"]`))
	return o.End()
}

// A handshake contains what the handshake revealed about the plugin.
type handshake struct {
	hosts  atomic.Bool                     // the local side is the host, which has sent a handshake and will shut the plugin down
	open   atomic.Bool                     // environment.open succeeded
	result atomic.Pointer[json.RawMessage] // the result of the handshake; nil before it
}

// library returns the name of the plugin's library, or "" before the handshake.
func (g *handshake) library() string {
	result := g.result.Load()
	if result == nil {
		return ""
	}
	return scan.String(scan.Get(scan.Get(*result, "library"), "name"))
}

// Handshake sends the handshake of a host and checks that the plugin has the same protocol version. It then sends
// environment.open, whose failure causes only a warning.
func (c *codec) Handshake(ctx context.Context, peer dialect.Caller) error {
	if c.o.HandshakeDone {
		return nil
	}
	c.hosts.Store(true)
	result, err := peer.Call(ctx, methodHandshake, handshakeParams())
	if err != nil {
		return handshakeFailed(err)
	}
	if err := checkHandshake(result); err != nil {
		return err
	}
	c.result.Store(new(json.RawMessage(bytes.Clone(result))))
	if c.o.OneWay || c.o.Plugin.NoEnvironment {
		return nil
	}
	_, err = peer.Call(ctx, methodOpen, nil)
	if rpc, ok := errors.AsType[*wire.Error](err); ok {
		if string(rpc.Code) != "-32601" { // the method is reserved, so a plugin may lack it
			warn(peer, "the plugin does not accept environment.open (--no-environment omits it): "+rpc.Error())
		}
		return nil
	}
	c.open.Store(err == nil)
	return handshakeFailed(err)
}

// skipHandshake consumes the ids of a handshake without sending one.
func (c *codec) skipHandshake() {
	_, _ = c.Encode(dialect.Op{Kind: dialect.Call, Method: methodHandshake})
	if !c.o.OneWay && !c.o.Plugin.NoEnvironment {
		_, _ = c.Encode(dialect.Op{Kind: dialect.Call, Method: methodOpen})
	}
}

// handshakeFailed converts a JSON-RPC error of a handshake to a Fault of kind Protocol.
func handshakeFailed(err error) error {
	if rpc, ok := errors.AsType[*wire.Error](err); ok {
		return &wire.Fault{Kind: wire.Protocol, Message: "the plugin refused the handshake: " + rpc.Error(), RPC: rpc, Method: methodHandshake}
	}
	return err
}

func checkHandshake(result []byte) error {
	bad := func(format string, args ...any) error {
		return &wire.Fault{Kind: wire.Protocol, Message: fmt.Sprintf(format, args...), Method: methodHandshake}
	}
	if scan.Type(result) != 'o' {
		return bad("the response to the handshake is %s", excerpt(result))
	}
	version, transport := scan.Get(result, "protocol"), scan.Get(result, "transport")
	if text, ok := scan.Text(version); !ok || text != Version {
		return bad("the plugin uses version %s of the protocol, but rpcx supports %q", excerpt(version), Version)
	}
	if text, ok := scan.Text(transport); !ok || text != "json" {
		return bad("the plugin requires the transport %s, but rpcx uses %q", excerpt(transport), "json")
	}
	return nil
}

func warn(peer dialect.Caller, text string) {
	if tell := peer.Connection().Tell; tell != nil {
		tell(wire.Event{Kind: wire.Log, Level: "warn", Message: text})
	}
}

// hurriedShutdown bounds the wait for plugin.shutdown after an interrupt.
const hurriedShutdown = 100 * time.Millisecond

// Shutdown sends environment.close and plugin.shutdown ("Lifecycle" in the specification), each with its own time
// limit. If there is no response to the first, it sends the second without waiting for a response.
func (c *codec) Shutdown(ctx context.Context, peer dialect.Caller) error {
	if !c.hosts.Load() || c.o.OneWay {
		return nil
	}
	answers := true
	if c.open.Load() {
		bound, cancel := context.WithTimeout(ctx, time.Second)
		_, _ = peer.Call(bound, methodClose, nil)
		answers = bound.Err() == nil
		cancel()
	}
	hurry := func() bool { return errors.Is(ctx.Err(), context.Canceled) }
	limit := c.o.Plugin.ShutdownTimeout
	if hurry() {
		limit = min(limit, hurriedShutdown)
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if !answers {
		return peer.Notify(bound, dialect.Op{Kind: dialect.Call, Method: methodShutdown})
	}
	defer context.AfterFunc(ctx, func() {
		if hurry() {
			cancel()
		}
	})()
	_, err := peer.Call(bound, methodShutdown, nil)
	return err
}

// Describe returns the catalog in the result of the handshake. If no handshake was sent, as on a hook's connection, it
// sends one.
func (c *codec) Describe(ctx context.Context, peer dialect.Caller) (*catalog.Catalog, error) {
	warning := func(text string) { warn(peer, text) }
	if known := c.result.Load(); known != nil {
		return toCatalog(*known, warning), nil
	}
	result, err := peer.Call(ctx, methodHandshake, handshakeParams())
	if _, ok := errors.AsType[*wire.Error](err); ok {
		err = wire.ErrUnsupported
	}
	if err == nil {
		err = checkHandshake(result)
	}
	if err != nil {
		return nil, err
	}
	return toCatalog(result, warning), nil
}
