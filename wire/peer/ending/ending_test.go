package ending

import (
	"errors"
	"io"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

func TestTheStateOnlyMovesForward(t *testing.T) {
	var e Ending
	if e.Enter(Closing); e.Live() || e.State != Closing {
		t.Fatal("the state is not Closing")
	}
	if e.Enter(EOF); e.State != Closing {
		t.Error("the state went back")
	}
}

var (
	errTorn   = errors.New("reset by peer")
	errUnsent = errors.New("broken pipe")
	goodbye   = &wire.CloseError{Clean: true, Code: 1000}
	exited    = &wire.CloseError{Child: &wire.Child{Exit: 3}}
	framing   = &wire.Fault{Kind: wire.Protocol, Message: "no length"}
)

func TestWhyAConnectionEnds(t *testing.T) {
	for name, c := range map[string]struct {
		before Ending
		err    error
		state  State
		reason error // what open calls report
		final  string
	}{
		"the peer has closed its sending side":               {Ending{}, io.EOF, EOF, io.EOF, ""},
		"the peer violates the framing":                      {Ending{}, framing, EOF, framing, "no length"},
		"the peer sends a close message":                     {Ending{}, goodbye, Closing, goodbye, ""},
		"the connection is reset":                            {Ending{}, errTorn, Closing, errTorn, "connection lost: reset by peer"},
		"rpcx has closed the connection":                     {Ending{Ours: true}, errTorn, Closing, ErrOurs, ""},
		"a write failed, then the connection is reset":       {Ending{Abort: errUnsent}, errTorn, Closing, errUnsent, "connection lost: broken pipe"},
		"a write failed, then a child exits":                 {Ending{Abort: errUnsent}, exited, Closing, exited, "connection lost: broken pipe"},
		"a write failed, then the peer violates the framing": {Ending{Abort: errUnsent}, framing, EOF, framing, "connection lost: broken pipe"},
	} {
		e := c.before
		if reason := e.Stop(c.err); reason != c.reason || e.State != c.state {
			t.Errorf("%s: state %d, reason %v", name, e.State, reason)
		}
		e.Finish(c.err)
		f := wire.AsFault(e.Err())
		if (f == nil) != (c.final == "") || f != nil && f.Message != c.final {
			t.Errorf("%s: ends with %v", name, e.Err())
		}
	}
}

// A local close after reading ended does not change the reason.
func TestALaterCloseIsNotTheReason(t *testing.T) {
	var e Ending
	e.Stop(exited)
	e.Ours = true
	e.Finish(exited)
	if f := wire.AsFault(e.Err()); f == nil || f.Child != exited.Child {
		t.Error(e.Err())
	}
}

// The side that is the first to end the connection has ended it.
func TestRemote(t *testing.T) {
	var peer, local, unsent Ending
	peer.Stop(io.EOF)
	peer.Leave()
	local.Leave()
	local.Stop(exited)
	unsent.Abort = errUnsent
	unsent.Leave()
	unsent.Stop(exited)
	if how := peer.Remote(); how == nil || local.Remote() != nil {
		t.Error(how, local.Remote())
	}
	if f := wire.AsFault(unsent.Remote()); f == nil || f.Child != exited.Child {
		t.Error(f)
	}
}

func TestFaultsNameTheMethodOnce(t *testing.T) {
	e := Ending{Ours: true}
	if f := e.Fault(nil, "add"); f.Message != `rpcx closed the connection, before "add" was sent` || f.Method != "add" {
		t.Error(f.Message, f.Method)
	}
	e.Stop(errTorn)
	testkit.Expect(t, "the reason", e.Fault(io.EOF, "").Message, "rpcx closed the connection, before the message was sent")
	named := &wire.Fault{Kind: wire.IO, Method: "sub"}
	if f := Fault(named, "add", ""); f.Method != "sub" || f == named {
		t.Error("the fault has another method, or is not a copy")
	}
}

func TestCodeOfAProtocolError(t *testing.T) {
	if code, why := Code(framing); code != 1002 || why != "no length" {
		t.Error(code, why)
	}
	if code, why := Code(&wire.Fault{Kind: wire.Protocol, Close: &wire.CloseError{Code: 1009, Reason: "large"}}); code != 1009 || why != "large" {
		t.Error(code, why)
	}
	if code, _ := Code(errTorn); code != 0 {
		t.Error(code)
	}
}
