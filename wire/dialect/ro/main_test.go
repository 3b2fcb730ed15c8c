package ro

import (
	"testing"

	"go.uber.org/goleak"

	"rpcx/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shown is what was decoded, in a line.
func shown(m wire.Message) string {
	s := m.Kind.String()
	add := func(name, val string) {
		if val != "" {
			s += " " + name + "=" + val
		}
	}
	add("id", string(m.ID))
	add("method", m.Method)
	add("params", string(m.Params))
	add("body", string(m.Body))
	if m.Err != nil {
		add("error", m.Err.Error())
	}
	if m.Final {
		s += " final"
	}
	return s
}
