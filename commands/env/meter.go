package env

import (
	"fmt"
	"strings"
	"sync"
	"text/template"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A Meter counts the messages of a command and measures times, for --write-out. It is safe for concurrent use. A nil
// Meter does nothing.
type Meter struct {
	form    *template.Template // nil to print all measurements as JSON
	started time.Time

	mu       sync.Mutex
	address  string
	connect  time.Duration // this and the next two are times since the start, or 0
	tls      time.Duration
	first    time.Duration
	bytes    [2]int64 // the sizes of messages by direction
	messages [2]int64
}

// NewMeter returns a Meter. form is the form of its report: "json", or a template for Go's text/template.
func NewMeter(form string, started time.Time) (*Meter, error) {
	m := &Meter{started: started}
	if form == "json" {
		return m, nil
	}
	var err error
	m.form, err = template.New("write-out").Option("missingkey=error").Parse(strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(form))
	if err == nil {
		err = m.form.Execute(new(strings.Builder), m.members(0)) // unknown members are errors
	}
	if err != nil {
		return nil, fmt.Errorf("%s (valid: .connect, .tls, .first_message, .total, .address, .bytes.sent, .bytes.received, "+
			".messages.sent, .messages.received and .status)", strings.TrimPrefix(err.Error(), "template: "))
	}
	return m, nil
}

// Fact records the time at which a step of connecting was complete.
func (m *Meter) Fact(f wire.Fact) {
	if m == nil || f.Who != "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first > 0 {
		return
	}
	switch f.Step {
	case "connected", "child", "session":
		m.connect, m.tls, m.address = time.Since(m.started), 0, f.At
	case "tls":
		m.tls = time.Since(m.started)
	}
}

// Message counts a message.
func (m *Meter) Message(d wire.Direction, msg []byte) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if d == wire.Recv && m.first == 0 {
		m.first = time.Since(m.started)
	}
	m.bytes[d] += int64(len(msg))
	m.messages[d]++
}

// members returns the values for a template, with times in seconds since the start.
func (m *Meter) members(status int) map[string]any {
	return map[string]any{
		"connect": m.connect.Seconds(), "tls": m.tls.Seconds(), "first_message": m.first.Seconds(), "total": time.Since(m.started).Seconds(),
		"address":  m.address,
		"bytes":    map[string]int64{"sent": m.bytes[wire.Send], "received": m.bytes[wire.Recv]},
		"messages": map[string]int64{"sent": m.messages[wire.Send], "received": m.messages[wire.Recv]},
		"status":   status,
	}
}

// json returns the members as JSON.
func (m *Meter) json(status int) []byte {
	both := func(n [2]int64) []byte {
		var o scan.Object
		o.Int("sent", n[wire.Send])
		o.Int("received", n[wire.Recv])
		return o.End()
	}
	seconds := func(d time.Duration) float64 { return d.Round(time.Microsecond).Seconds() }
	var o scan.Object
	o.Value("connect", seconds(m.connect))
	o.Value("tls", seconds(m.tls))
	o.Value("first_message", seconds(m.first))
	o.Value("total", seconds(time.Since(m.started)))
	o.Text("address", m.address)
	o.Add("bytes", both(m.bytes))
	o.Add("messages", both(m.messages))
	o.Int("status", int64(status))
	return o.End()
}

// Report prints the measurements on stderr at the end of a command with that status.
func (run *Env) Report(status int) {
	m := run.Common.Meter
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.form == nil {
		run.Console.Times(m.json(status), "")
		return
	}
	var text strings.Builder
	if err := m.form.Execute(&text, m.members(status)); err != nil {
		run.Console.Warn("--write-out: " + err.Error())
	}
	run.Console.Times(nil, text.String())
}
