package env

import (
	"context"
	"errors"
	"testing"
	"time"

	"rpcx/wire"
)

// TestDeadline checks that each timer ends the context with a Fault that names its flag, and that a message restarts only the idle timer.
func TestDeadline(t *testing.T) {
	for text, d := range map[string]*Deadline{
		"not done within 1ns (--timeout)": NewDeadline(context.Background(), 1, 0),
		"no message for 1ns (--idle)":     NewDeadline(context.Background(), 0, 1),
	} {
		<-d.Ctx.Done()
		err := Cause(d.Ctx, d.Ctx.Err())
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Timeout || f.Message != text {
			t.Errorf("%v, want %s", err, text)
		}
		d.Stop()
	}
	d := NewDeadline(context.Background(), 0, time.Hour)
	d.Touch()
	if d.Ctx.Err() != nil {
		t.Error("a message ended the call")
	}
	d.Stop()
	other := errors.New("other")
	if Cause(context.Background(), other) != other || Cause(d.Ctx, other) != other || Cause(d.Ctx, nil) != nil {
		t.Error("Cause replaced an error that no deadline caused")
	}
}

// TestCloseContext checks that messages can be sent for a limited time after the call's context has ended.
func TestCloseContext(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	ctx, done := CloseContext(ended)
	defer done()
	if at, ok := ctx.Deadline(); ctx.Err() != nil || !ok || time.Until(at) > LastMessagesTimeout {
		t.Errorf("%v, until %v", ctx.Err(), at)
	}
}

// TestEarly checks that the form of errors is decided before the command line is parsed.
func TestEarly(t *testing.T) {
	t.Setenv("RPCX_ERRORS", "")
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"call", "--errors", "json"}, true},
		{[]string{"--errors=json"}, true},
		{[]string{"--errors=json", "--errors=text"}, false},
		{[]string{"call", "--", "--errors=json"}, false},
		{[]string{"call"}, false},
	} {
		if JSONErrors(c.args) != c.want {
			t.Errorf("%q: %t", c.args, !c.want)
		}
	}
	t.Setenv("RPCX_ERRORS", "xml")
	if f := wire.AsFault(CheckEnvironment()); f == nil || f.Kind != wire.Usage {
		t.Errorf("RPCX_ERRORS=xml: %v", f)
	}
}
