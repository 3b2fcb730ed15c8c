package hotrepl

import (
	"cmp"
	"encoding/json"
	"runtime"
	"time"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// limits contains the limits that the handshake announces, in the specification's order.
type limits struct {
	MaxMessageBytes       int `json:"maxMessageBytes"`
	MaxQueuedCommands     int `json:"maxQueuedCommands"`
	MaxResultLength       int `json:"maxResultLength"`
	MaxEnumerableElements int `json:"maxEnumerableElements"`
	DefaultEvalTimeoutMs  int `json:"defaultEvalTimeoutMs"`
	MaxJobConcurrency     int `json:"maxJobConcurrency"`
}

// enforced lists the limits that this host enforces, for the handshake.
var enforced = []string{"maxMessageBytes", "maxQueuedCommands", "maxResultLength", "maxEnumerableElements", "maxJobConcurrency"}

const defaultFrame = 16 * time.Millisecond

// config contains the first message to a client, the data in it that the host uses, and the length of a frame.
type config struct {
	handshake json.RawMessage
	name      string // of the host
	limits    limits
	frame     time.Duration
}

// newConfig returns the config of a host that offers c. The catalog's extra.limits override the default limits of the
// specification.
func newConfig(c *catalog.Catalog, r dialect.Runtime, h dialect.HostOptions) config {
	cfg := config{name: cmp.Or(c.Info.Name, "rpcx"), frame: cmp.Or(h.Frame, defaultFrame), limits: limits{
		MaxMessageBytes: 4 << 20, MaxQueuedCommands: 32, MaxResultLength: 100 << 10,
		MaxEnumerableElements: 100, DefaultEvalTimeoutMs: 10000, MaxJobConcurrency: 1,
	}}
	cfg.limits.take(scan.Get(c.Extra, "limits"))
	if most := h.MaxMessage; most > 0 { // the transport rejects larger messages first
		cfg.limits.MaxMessageBytes = min(cfg.limits.MaxMessageBytes, most)
	}
	engine, language, cancellation, evaluators := "none", "", "unsupported", []string{}
	if r != nil {
		about := r.About()
		engine, language, cancellation, evaluators = about["engine"], about["language"], "cooperative", []string{about["engine"]}
	}
	host := build("").text("name", cfg.name).text("version", c.Info.Version).text("platform", runtime.GOOS+"/"+runtime.GOARCH).end()
	evaluator := build("").text("name", engine).text("languageVersion", language).
		bool("persistentState", r != nil).bool("supportsCompletion", r != nil).text("cancellation", cancellation).end()
	control := build("").bool("supported", true).bool("commandsListChanged", false).bool("schemaValidation", true).end()
	cfg.handshake = build(typeHandshake).raw("protocolVersion", []byte(version)).raw("host", host).raw("evaluator", evaluator).
		raw("availableEvaluators", scan.JSON(evaluators)).raw("defaultUsings", stringsOf(c.Extra, "defaultUsings")).
		raw("helpers", stringsOf(c.Extra, "helpers")).raw("control", control).
		raw("limits", scan.JSON(cfg.limits)).raw("enforces", scan.JSON(enforced)).end()
	return cfg
}

// stringsOf returns the strings in the array of that name in extra.
func stringsOf(extra json.RawMessage, name string) json.RawMessage {
	var all scan.Array
	for item := range scan.Elements(scan.Get(extra, name)) {
		if scan.Type(item) == 's' {
			all.Add(item)
		}
	}
	return all.End()
}

// take overrides limits with the values in given that the specification's schema allows.
func (l *limits) take(given json.RawMessage) {
	for name, to := range map[string]*int{
		"maxMessageBytes": &l.MaxMessageBytes, "maxQueuedCommands": &l.MaxQueuedCommands,
		"maxResultLength": &l.MaxResultLength, "maxEnumerableElements": &l.MaxEnumerableElements,
		"defaultEvalTimeoutMs": &l.DefaultEvalTimeoutMs, "maxJobConcurrency": &l.MaxJobConcurrency,
	} {
		val := scan.Get(given, name)
		if n := number(val); n > 0 || string(val) == "0" && to == &l.MaxQueuedCommands {
			*to = n
		}
	}
}
