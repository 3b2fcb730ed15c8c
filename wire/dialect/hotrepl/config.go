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

// config contains the data for the handshake, and the length of a frame.
type config struct {
	host      struct{ Name, Version, Platform string }
	evaluator struct {
		name, language string
		present        bool
	}
	limits  limits
	usings  json.RawMessage // an array of the namespaces that code can use without an import
	helpers json.RawMessage // an array of helpers that the host has defined for code
	frame   time.Duration
}

// newConfig returns the config of a host that offers c. The catalog's extra.limits override the default limits of the
// specification.
func newConfig(c *catalog.Catalog, r dialect.Runtime, h dialect.HostOptions) config {
	cfg := config{frame: h.Frame, limits: limits{
		MaxMessageBytes: 4 << 20, MaxQueuedCommands: 32, MaxResultLength: 100 << 10,
		MaxEnumerableElements: 100, DefaultEvalTimeoutMs: 10000, MaxJobConcurrency: 1,
	}}
	cfg.frame = cmp.Or(cfg.frame, defaultFrame)
	cfg.limits.take(scan.Get(c.Extra, "limits"))
	cfg.usings, cfg.helpers = stringsOf(c.Extra, "defaultUsings"), stringsOf(c.Extra, "helpers")
	if most := h.MaxMessage; most > 0 { // the transport rejects larger messages first
		cfg.limits.MaxMessageBytes = min(cfg.limits.MaxMessageBytes, most)
	}
	cfg.host.Name, cfg.host.Version, cfg.host.Platform = c.Info.Name, c.Info.Version, runtime.GOOS+"/"+runtime.GOARCH
	cfg.host.Name = cmp.Or(cfg.host.Name, "rpcx")
	cfg.evaluator.name = "none"
	if r != nil {
		about := r.About()
		cfg.evaluator.present = true
		cfg.evaluator.name, cfg.evaluator.language = about["engine"], about["language"]
	}
	return cfg
}

// stringsOf returns the strings in the array of that name in extra.
func stringsOf(extra json.RawMessage, name string) json.RawMessage {
	var all scan.Array
	if val := scan.Get(extra, name); scan.Type(val) == 'a' {
		for item := range scan.Elements(val) {
			if scan.Type(item) == 's' {
				all.Add(item)
			}
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

// handshake returns the first message to a client.
func (c *config) handshake() json.RawMessage {
	host := build("").text("name", c.host.Name).text("version", c.host.Version).text("platform", c.host.Platform).end()
	cancellation, evaluators := "cooperative", []string{c.evaluator.name}
	if !c.evaluator.present {
		cancellation, evaluators = "unsupported", []string{}
	}
	evaluator := build("").text("name", c.evaluator.name).text("languageVersion", c.evaluator.language).
		bool("persistentState", c.evaluator.present).bool("supportsCompletion", c.evaluator.present).
		text("cancellation", cancellation).end()
	control := build("").bool("supported", true).bool("commandsListChanged", false).bool("schemaValidation", true).end()
	return build(typeHandshake).raw("protocolVersion", []byte(version)).raw("host", host).raw("evaluator", evaluator).
		raw("availableEvaluators", scan.JSON(evaluators)).raw("defaultUsings", c.usings).raw("helpers", c.helpers).
		raw("control", control).raw("limits", scan.JSON(c.limits)).raw("enforces", scan.JSON(enforced)).end()
}
