package probes_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/hook"
	"rpcx/wire/jq"
	"rpcx/wire/serve"
	"rpcx/wire/session"
	"rpcx/wire/validate/probes"
)

// stray is an answer to nothing, which comes before what is there.
const stray = `{jsonrpc: "2.0", id: null, error: {code: -32601, message: "no"}}, .`

// breaks are, for each probe of each dialect, a jq program on the messages of a server
// that is right otherwise: with it the probe must find something. The program sees the
// messages after the greeting.
var breaks = map[string]map[string]string{
	"jsonrpc": {
		"unknown-method":          `.result = 1`,
		"unknown-method-code":     `.error.code = -32000`,
		"id-echoed":               `.id = null`,
		"id-type-kept":            `.id |= tonumber`,
		"notification-unanswered": stray,
		"params-by-position":      `empty`,
		"calls-overlap":           `.id = 7`,
		"discovery-bad-params":    `del(.error) | .result = {}`,
		"bad-params":              `.error.code = -32000`,
		"batch":                   `.[0]`,
		"batch-empty":             `[.]`,
		"batch-invalid":           `.[0]`,
		"batch-of-notifications":  `[], .`,
		"parse-error":             `.error.code = -32600`,
		"invalid-request":         `.error.code = -32700`,
		"id-of-wrong-type":        `.error.code = -32601`,
		"wrong-version":           `.error.code = -32601`,
	},
	"jsonrpc1": {
		"unknown-method":          `.result = 1`,
		"id-echoed":               `.id = null`,
		"notification-unanswered": stray,
		"calls-overlap":           `empty`,
	},
	"ro": {
		"plain-request":      `.jsonrpc = "1.0"`,
		"structured-request": `.error.code = "x"`,
		"describe":           `del(.result) | .error = {code: -32601, message: "no"}`,
		"method-mismatch":    `.error.code = -32601`,
		"verb-mismatch":      `.error.code = -32601`,
		"parent-alone":       `.error.code = -32601`,
		"subresource-alone":  `.error.code = -32601`,
		"reserved-verb":      `del(.error) | .result = 1`,
	},
	"scomp": {
		"batch-refused":      `del(.error) | .result = 1`,
		"unknown-binding":    `.result = 1`,
		"eval-without-code":  `del(.error) | .result = {value: null}`,
		"release-unanswered": stray,
		"second-handshake":   `del(.error) | .result = {protocol: "0.1"}`,
		"handshake-first":    `del(.error) | .result = {value: 1}`,
		"handshake":          `.result.sessionId = 5`,
		"wrong-protocol":     `del(.error) | .result = {protocol: "999.9"}`,
		"second-connection":  `.result.sessionId = "same"`,
	},
	"introspect": {
		"service-schema":           `if .params.result.type? == "done" then .params.result.type = "progress" end`,
		"unknown-module":           `if .params.result.type? == "guidance" then .params.result.error_kind = "method_not_found" end`,
		"unknown-method":           `if .params.result.type? == "guidance" then .params.result.error_kind = "module_not_found" end`,
		"failure-sequence":         `if .params.result.type? == "error" then del(.params.result.recoverable) end`,
		"schema-of-unknown-module": `if .params.result.type? == "error" then .params.result.type = "data" end`,
		"schema-without-module":    `if .params.result.type? == "error" then .params.result.type = "data" end`,
		"hash-stable":              `if .params.result.content_type? == "service.hash" then .params.result.data.hash = (now | tostring) end`,
	},
	"scriptling": {
		"unknown-method":     `.error.code = -32603`,
		"unknown-function":   `.error.code = -32601`,
		"unknown-class":      `.error.code = -32601`,
		"unknown-object":     `.error.code = -32601`,
		"destroy-idempotent": `del(.result) | .error = {code: -32000, message: "gone"}`,
		"environment":        `.result = 5`,
		"calls-overlap":      `empty`,
		"handshake":          `if .result then .result.transport = "xml" end`,
	},
	"hotrepl": {
		"unknown-type":        `del(.error.kind)`,
		"malformed-json":      `if .type == "error" then .error.kind = "internal" end`,
		"eval-without-code":   `del(.error)`,
		"unknown-command":     `.error.kind = "internal"`,
		"commands-list":       `del(.commands)`,
		"cancel-of-nothing":   `empty`,
		"unknown-job":         `del(.error)`,
		"limit-message":       `if .type == "error" then del(.error.kind) end`,
		"subscribe-limit":     `if .type == "subscribe_result" then .final = false end`,
		"subscribe-cancelled": `if .type == "subscribe_result" and .final then {type: "subscribe_result", id: ("rpcx-" + (.id | ltrimstr("rpcx-") | tonumber - 2 | tostring)), final: false}, . end`,
		"eval":                `del(.durationMs)`,
		"evicted":             `if .type == "session_evicted" then del(.reason) end`,
		"handshake-first":     `.protocolVersion = 1`,
	},
}

// demos are whose catalogs and hooks a dialect is served with.
var demos = map[string]string{"jsonrpc": "orders", "jsonrpc1": "orders"}

// facts are the variables of probes that are made for each of something.
var facts = map[string]map[string]json.RawMessage{
	"try":       {"method": json.RawMessage(`"getOrder"`), "params": json.RawMessage(`{}`)},
	"discovery": {"method": json.RawMessage(`"rpc.discover"`)},
	"module":    {"module": json.RawMessage(`"storage"`), "nomethod": json.RawMessage(`"storage_rpcxvalidatenone"`)},
}

// TestBreaks: each probe finds nothing in our own server, and what it is for where that
// is spoilt. A probe that nobody has spoilt anything for fails.
func TestBreaks(t *testing.T) {
	for dialect, programs := range breaks {
		if _, ok := all.Find(dialect); !ok {
			continue // it was removed
		}
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			set, err := probes.For(dialect)
			if err != nil {
				t.Fatal(err)
			}
			s := newSubject(t, dialect)
			for i := range set.Probes {
				p := &set.Probes[i]
				program, own := programs[p.Name]
				if !own && breaks["jsonrpc"][p.Name] != "" {
					continue // of the base
				}
				if res := s.run(t, p, "."); res.Error != nil || res.Broken != "" {
					t.Errorf("%s: %s, %v; sent %s, came %s", p.Name, res.Broken, res.Error, res.Sent, res.Got)
				}
				if program == "" {
					t.Errorf("%s: nothing shows that it finds anything", p.Name)
				} else if res := s.run(t, p, program); res.Broken == "" {
					t.Errorf("%s: finds nothing with %s: %v; came %s", p.Name, program, res.Error, res.Got)
				}
			}
		})
	}
}

// A subject is a server of ours, which is probed over a Unix socket.
type subject struct {
	at      string
	dialect string
}

func newSubject(t *testing.T, dialect string) *subject {
	name := demos[dialect]
	if name == "" {
		name = dialect
	}
	c, ok := serve.Demo(name)
	if !ok {
		t.Fatalf("there is no demo of %s", dialect)
	}
	hooks, err := hook.FromCatalog(c)
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{at: dialect + "+unix:" + filepath.Join(t.TempDir(), "s"), dialect: dialect}
	e, err := session.ParseEndpoint(s.at, "")
	if err != nil {
		t.Fatal(err)
	}
	o := session.Options{Catalog: c, Hooks: hooks}
	if e.Spec().Evaluation != nil {
		o.Runtime = "jq"
	}
	l, err := session.Listen(t.Context(), e, o)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- l.Serve() }()
	t.Cleanup(func() {
		_ = l.Close()
		<-served
	})
	return s
}

// run makes a probe of a server whose messages a program spoils.
func (s *subject) run(t *testing.T, p *probes.Probe, program string) probes.Result {
	t.Helper()
	target := &probes.Target{AnswerTimeout: 5 * time.Second, Dial: func(ctx context.Context, greeted bool) (*probes.Conn, func(), error) {
		return s.dial(t, greeted, program)
	}}
	if program == "empty" || p.Name == "calls-overlap" && program != "." {
		target.AnswerTimeout = 50 * time.Millisecond // nothing will come
	}
	if !p.Own && !p.Bare {
		c, end, err := s.dial(t, true, program)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		target.Shared = c
	}
	return target.Run(t.Context(), p, facts[p.For])
}

func (s *subject) dial(t *testing.T, greeted bool, program string) (*probes.Conn, func(), error) {
	e, err := session.ParseEndpoint(s.at, "")
	if err != nil {
		return nil, nil, err
	}
	shape, err := all.ShapeOf(s.dialect)
	if err != nil {
		return nil, nil, err
	}
	compiled, err := jq.Compile(program, jq.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var c *probes.Conn
	spoilt := &spoiling{program: compiled, on: !greeted}
	o := session.Options{Wrap: func(conn wire.Conn) wire.Conn {
		spoilt.Conn = conn
		c = probes.NewConn(spoilt, shape, nil)
		return c.User()
	}}
	if greeted {
		conv, err := session.OpenDirect(t.Context(), e, o)
		if err != nil {
			return nil, nil, err
		}
		spoilt.begin()
		return c, func() { _ = conv.Close() }, nil
	}
	conn, closeAll, err := session.DialMessages(t.Context(), e, o)
	if err != nil {
		return nil, nil, err
	}
	c.Listen()
	return c, func() { _ = conn.Close(); closeAll() }, nil
}
