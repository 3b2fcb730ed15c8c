package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/session/bridge"
	"rpcx/wire/testkit"
)

// peerCatalog is the catalog of the peer behind the bridge. plain is a jq program that returns the params in the input of a hook,
// whatever their form in the dialect.
const (
	peerCatalog = `{"catalog":1,"info":{"name":"calc","version":"1"},"methods":[
		{"name":"calc_add","kind":"call","description":"the sum","params":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}},"result":{"type":"integer"}},
		{"name":"calc_fail","kind":"call"},{"name":"calc_ask","kind":"call"},{"name":"calc_slow","kind":"call"},
		{"name":"calc_count","kind":"stream","result":{"type":"integer"}},{"name":"calc_ticks","kind":"stream"},{"name":"calc_dig","kind":"job"}]}`
	plain = `(if .params then .params else . end | if .kwargs then .kwargs else . end)`
)

func hooks(t *testing.T, answers map[string]string) (entries []hook.Entry) {
	t.Helper()
	for name, text := range answers {
		a, err := hook.ParseAnswer(text)
		testkit.OK(t, err)
		entries = append(entries, hook.Entry{Pattern: name, Answer: a})
	}
	return entries
}

func serve(t *testing.T, at string, o session.Options) endpoint.Endpoint {
	t.Helper()
	e, err := endpoint.Parse(at, "")
	testkit.OK(t, err)
	s, err := session.Listen(t.Context(), e, o)
	testkit.OK(t, err)
	testkit.Serve(t, s)
	return e
}

// call returns the data or the error of a call. It subscribes to methods that stream.
func call(ctx context.Context, conv session.Conversation, offered *catalog.Catalog, name, params string, told ...func(wire.Event)) (data []string, failed *wire.Error, err error) {
	op := dialect.Op{Kind: dialect.Call, Method: name, Params: json.RawMessage(params)}
	if m := offered.Method(name); m != nil && m.Kind == catalog.Stream && !all.Named(conv.Dialect()).Catalog.CallsStream {
		op.Kind = dialect.Subscribe
	} else if m != nil && m.Kind == catalog.Job && all.Named(conv.Dialect()).Evaluation.IsLive() {
		op.Kind, op.Extra = dialect.JobRun, json.RawMessage(`{"bare":true}`)
	}
	st, err := conv.Open(ctx, op)
	for err == nil {
		var m wire.Message
		if m, err = st.Next(ctx); err != nil {
			break
		}
		if m.Kind == wire.Response && m.Err == nil && !m.Final && m.Stream != nil {
			continue
		}
		ev, everr := dialect.EventOf(conv, m)
		for _, tell := range told {
			tell(ev)
		}
		switch {
		case everr != nil:
			return data, failed, everr
		case ev.Kind == wire.Failure:
			failed = ev.Err.Clone()
		case ev.Kind == wire.Data:
			data = append(data, string(ev.Data))
		}
		if m.Final || ev.Final {
			return data, failed, nil
		}
	}
	var rpc *wire.Error
	if errors.As(err, &rpc) {
		return data, rpc, nil
	}
	if err == io.EOF {
		err = nil
	}
	return data, failed, err
}

// TestPairs runs one conversation across a bridge between each pair of dialects: a call with a result, an error with code and data,
// a request from the peer to the client, a stream, a job with progress, a cancelled call, and a method that a hook answers instead
// of the peer. Dialect files with calls are paired with themselves, jsonrpc and mcp.
func TestPairs(t *testing.T) {
	specs := append(all.Specs(), all.Named("mcp"))
	for _, here := range specs {
		for _, there := range specs {
			t.Run(here.Name+" to "+there.Name, func(t *testing.T) { pair(t, here.Name, there.Name) })
		}
	}
	for _, name := range all.Pages().Names() {
		if name == "mcp" || name == "a2a" { // mcp is in specs; rpcx is only a client of a2a
			continue
		}
		t.Run(name+" to jsonrpc", func(t *testing.T) { pair(t, name, "jsonrpc") })
		t.Run("jsonrpc to "+name, func(t *testing.T) { pair(t, "jsonrpc", name) })
		t.Run(name+" to "+name, func(t *testing.T) { pair(t, name, name) })
		t.Run("mcp to "+name, func(t *testing.T) { pair(t, "mcp", name) })
	}
}

func pair(t *testing.T, here, there string) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	dir := t.TempDir()
	question, answer := "question", `{"answer":42}`
	if here == "mcp" || there == "mcp" { // MCP clients accept only certain methods
		question, answer = "roots/list", `{"roots":[]}`
	}
	peer := serve(t, prefix(there)+filepath.Join(dir, "peer"), session.Options{
		Catalog: testkit.Catalog(t, peerCatalog),
		Hooks: hooks(t, map[string]string{
			"calc_add":   "jq:" + plain + "| .a + .b",
			"calc_fail":  `jq:fail(-32050; "out of ink"; {"colour":"red"})`,
			"calc_ask":   `jq:rpc("` + question + `"; {"of":"all"})`,
			"calc_count": `lines:echo 1; echo 2; echo 3`,
			"calc_dig":   `lines:echo '{"progress":"half","fraction":0.5}'; until [ -e ` + filepath.Join(dir, "seen") + ` ]; do sleep 0.05; done; echo '{"data":{"found":"7"}}'`,
			"calc_ticks": "lines:trap 'touch " + filepath.Join(dir, "stopped") + "; exit' TERM; while :; do echo 1; sleep 0.02; done",
			"calc_slow":  "trap 'touch " + filepath.Join(dir, "gave-up") + "; exit' TERM; touch " + filepath.Join(dir, "begun") + "; sleep 30 & wait",
		}),
	})
	at, err := endpoint.Parse(prefix(here)+filepath.Join(dir, "bridge"), "")
	testkit.OK(t, err)
	b, err := bridge.New(ctx, bridge.Options{To: peer, Listen: at, Whole: 500 * time.Millisecond})
	testkit.OK(t, err)
	t.Cleanup(func() { _ = b.Close() })
	offered := b.Catalog()
	if there == "cdp" && here != there {
		t.Skip("the protocol of browsers defines all methods, and these are not among them")
	}
	offered.Methods = append(offered.Methods, catalog.Method{Name: "here_first"})
	serve(t, prefix(here)+filepath.Join(dir, "bridge"), session.Options{
		Catalog: offered, Bridge: b.Wrap, Deny: []string{"calc_denied"},
		Hooks: hooks(t, map[string]string{"here_first": `json:"here"`}),
	})
	conv, err := session.Open(ctx, at, session.Options{Hooks: hooks(t, map[string]string{question: "jq:" + answer})})
	testkit.OK(t, err)
	defer func() { _ = conv.Close() }()

	if data, failed, err := call(ctx, conv, offered, "calc_add", `{"a":1,"b":12345678901234567890}`); err != nil || failed != nil || last(data) != "12345678901234567891" {
		t.Errorf("calc_add: %v, %v, %v", data, failed, err)
	}
	_, failed, err := call(ctx, conv, offered, "calc_fail", `{}`)
	if err != nil || failed == nil || failed.Message != "out of ink" || saysData(here) && saysData(there) &&
		(!strings.Contains(string(failed.JSON()), "-32050") && !all.Named(there).Bridge.Errors.TextCodes || !strings.Contains(string(failed.JSON()), `"red"`)) {
		t.Errorf("calc_fail: %v, %v", failed, err)
	}
	lossy := here != there && saysData(there) && !saysData(here)
	testkit.Expect(t, "lacks error data", slices.Contains(b.Lacks, "error data"), lossy)
	if !asks(there) || !asks(here) || there == "mcp" && !all.Named(here).Bridge.Client.Declares {
		if data, failed, err := call(ctx, conv, offered, "calc_ask", `{}`); err != nil || failed == nil {
			t.Errorf("calc_ask: %v, %v, %v", data, failed, err)
		}
		testkit.Expect(t, "lacks requests from the peer", slices.Contains(b.Lacks, "requests from the peer"), asks(there))
	} else {
		if data, failed, err := call(ctx, conv, offered, "calc_ask", `{}`); err != nil || failed != nil || !scan.Equal([]byte(last(data)), []byte(answer)) {
			t.Errorf("calc_ask: %v, %v, %v", data, failed, err)
		}
	}
	if data, failed, err := call(ctx, conv, offered, "here_first", `{}`); err != nil || failed != nil || last(data) != `"here"` {
		t.Errorf("here_first: %v, %v, %v", data, failed, err)
	}
	if data, failed, err := call(ctx, conv, offered, "calc_nosuch", `{}`); err != nil || failed == nil {
		t.Errorf("calc_nosuch: %v, %v, %v", data, failed, err)
	}
	if offered.Method("calc_count") != nil {
		if data, failed, err := call(ctx, conv, offered, "calc_count", `{}`); err != nil || failed != nil || items(data) != counted(there) {
			t.Errorf("calc_count: %v, %v, %v, want %s", data, failed, err, counted(there))
		}
	}
	half := false
	progress := func(ev wire.Event) {
		if !half && strings.Contains(string(ev.AppendJSON(nil)), "half") {
			half = os.WriteFile(filepath.Join(dir, "seen"), nil, 0o600) == nil
		}
	}
	progresses := tellsProgress(here, there)
	if !progresses {
		_ = os.WriteFile(filepath.Join(dir, "seen"), nil, 0o600)
	}
	if data, failed, err := call(ctx, conv, offered, "calc_dig", `{}`, progress); err != nil || failed != nil || !strings.Contains(last(data), `"found":"7"`) {
		t.Errorf("calc_dig: %v, %v, %v", data, failed, err)
	}
	if !half && progresses {
		t.Error("calc_dig: no progress")
	}
	said := slices.ContainsFunc(b.Lacks, func(l string) bool { return strings.HasPrefix(l, "progress") })
	if slices.Contains([]string{"introspect", "hotrepl", "mcp"}, there) && !progresses && here != there && !said {
		t.Errorf("progress is lost and not in Lacks: %q", b.Lacks)
	}
	if cancels(here) && cancels(there) {
		cancelled(ctx, t, conv, offered, dir)
	}
	if slices.Contains([]string{"jsonrpc", "jsonrpc1", "introspect"}, there) { // a ro server streams only methods of a resource
		endless(ctx, t, conv, offered, b.Lacks, filepath.Join(dir, "stopped"))
	}
	listsLacks(ctx, t, conv, b.Lacks)
}

// endless calls a method whose stream does not end. The bridge either streams until the call is cancelled, or rejects the call and
// lists the method as missing. When the method's hook is cancelled, it writes the file stopped.
func endless(ctx context.Context, t *testing.T, conv session.Conversation, offered *catalog.Catalog, lacks []string, stopped string) {
	said := slices.ContainsFunc(lacks, func(l string) bool {
		return strings.HasPrefix(l, "calc_ticks (") || strings.HasPrefix(l, "endless streams")
	})
	of := all.Named(conv.Dialect())
	isPage := slices.Contains(all.Pages().Names(), of.Name) && of.Name != "mcp"
	if of.Bridge.NoStreams || isPage || of.Name == "ro" {
		data, failed, err := call(ctx, conv, offered, "calc_ticks", `{}`)
		if err != nil || failed == nil || !strings.Contains(failed.Message, "calc_ticks") || !said {
			t.Errorf("calc_ticks: %v, %v, %v; Lacks: %q", data, failed, err, lacks)
		}
		return
	}
	if said {
		t.Errorf("Lacks: %q", lacks)
	}
	op := dialect.Op{Kind: dialect.Subscribe, Method: "calc_ticks"}
	if of.Catalog.CallsStream {
		op.Kind = dialect.Call
	}
	st, err := conv.Open(ctx, op)
	testkit.OK(t, err)
	for n := 0; n < 3; {
		m, err := st.Next(ctx)
		if err != nil {
			t.Fatalf("calc_ticks: %v", err)
		}
		if ev, err := dialect.EventOf(conv, m); err == nil && ev.Kind == wire.Data && m.Kind == wire.Item {
			n++
		}
	}
	dialect.CancelAnyway(ctx, st)
	if !slices.Contains(lacks, "cancellation of calls") {
		appears(ctx, t, stopped)
	}
}

// listsLacks checks that the catalog lists what the bridge cannot offer. A hotrepl host has no description.
func listsLacks(ctx context.Context, t *testing.T, conv session.Conversation, lacks []string) {
	if !slices.Contains([]string{"jsonrpc", "introspect", "ro", "scomp", "scriptling", "mcp"}, conv.Dialect()) {
		return
	}
	c, err := conv.Describe(ctx)
	testkit.OK(t, err)
	for _, l := range lacks {
		if !strings.Contains(string(scan.JSON(c)), string(scan.AppendQuoted(nil, l)[1:len(scan.AppendQuoted(nil, l))-1])) {
			t.Errorf("%s is not in the catalog: %s", l, scan.JSON(c))
		}
	}
}

// counted returns the items that a client gets from a stream in the peer's dialect. If the dialect has no streams,
// this is only the last item.
func counted(there string) string {
	if s := all.Named(there); s.Handshake.Plugin || s.Evaluation.IsLive() || s.Params.Functions || there == "mcp" {
		return "3"
	}
	return "1,2,3"
}

// items returns the items of a stream in one form, whether they are single events, an array or a string.
func items(data []string) string {
	return strings.NewReplacer(`"`, "", "[", "", "]", "", " ", "").Replace(strings.Join(data, ","))
}

// asks reports whether the servers of a dialect send requests by name.
func asks(name string) bool {
	s := all.Named(name)
	return !s.Handshake.Plugin && !s.Evaluation.IsLive()
}

// tellsProgress reports whether the bridge passes on the progress of a job. In HotRepl, a stream is a command without progress.
func tellsProgress(here, there string) bool {
	have := []string{"introspect", "hotrepl", "mcp"}
	return slices.Contains(have, here) && slices.Contains(have, there) && (here != "hotrepl" || there != "introspect")
}

// saysData reports whether errors in a dialect have their own code and data.
func saysData(name string) bool {
	return !slices.Contains([]string{"bidi", "dap", "netrpc", "ovsdb", "qmp"}, name)
}

// cancels reports whether calls in a dialect can be cancelled.
func cancels(name string) bool {
	s := all.Named(name)
	isPage := slices.Contains(all.Pages().Names(), name) && !slices.Contains([]string{"dap", "lsp", "mcp", "ovsdb"}, name) // these four are the dialect files that can cancel
	return !s.Handshake.Plugin && !s.Streams.NoCancel && !isPage
}

// prefix returns a dialect with header framing if the dialect can cancel calls and has no framing of its own.
func prefix(name string) string {
	if s := all.Named(name); s.Transport.Framing == "" && cancels(name) {
		return name + "+header+unix:"
	}
	return name + "+unix:"
}

// cancelled cancels a running call, and waits until its hook has ended.
func cancelled(ctx context.Context, t *testing.T, conv session.Conversation, offered *catalog.Catalog, dir string) {
	op := dialect.Op{Kind: dialect.Call, Method: "calc_slow"}
	if m := offered.Method("calc_slow"); m != nil && m.Kind == catalog.Stream && !all.Named(conv.Dialect()).Catalog.CallsStream {
		op.Kind = dialect.Subscribe
	}
	st, err := conv.Open(ctx, op)
	testkit.OK(t, err)
	appears(ctx, t, filepath.Join(dir, "begun"))
	testkit.OK(t, st.Cancel(ctx))
	appears(ctx, t, filepath.Join(dir, "gave-up"))
}

// appears waits until a file exists.
func appears(ctx context.Context, t *testing.T, file string) {
	t.Helper()
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		if _, err := os.Stat(file); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("no ", filepath.Base(file))
		}
	}
}

// last returns the last data. If the data is a string that contains JSON, last returns that JSON. If the data is an array, last
// returns its only element.
func last(data []string) string {
	if len(data) == 0 {
		return ""
	}
	text := data[len(data)-1]
	if inner, ok := scan.Text([]byte(text)); ok && scan.Valid([]byte(inner), 10) == nil {
		text = inner
	}
	return strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
}
