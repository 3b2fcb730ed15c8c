package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/session/relay"
)

// methods returns the additional methods of a session's socket.
func (h *host) methods() map[string]relay.Method {
	all := map[string]relay.Method{
		"hello":  h.hello,
		"status": h.status,
		"close":  h.close,
	}
	maps.Copy(all, h.inbox.Methods(func(err error) error { return h.sock.Meaning(err) }))
	return all
}

// ClientGone ends the claims of a process on calls that it has not shown.
func (h *host) ClientGone(s *relay.Process) { h.inbox.Release(s) }

// EndReason returns the error for waiting commands when the session has ended. Before that, it returns nil.
func (h *host) EndReason() error {
	if why := h.ended.Load(); why != nil {
		return why
	}
	return nil
}

// StreamFailed stores err as the last error of the session.
func (h *host) StreamFailed(err error) { h.noteError(err) }

// upstream waits until the session is live, and returns its connection.
func (h *host) upstream(ctx context.Context) (relay.Backend, error) {
	select {
	case <-h.live:
	case <-ctx.Done():
		if !wire.IsClosed(h.live) { // if the session is ending, the reason for that is more informative
			return nil, ctx.Err()
		}
	}
	return backend{h.conv, h.ring}, h.failed
}

// A backend is the connection of a session, together with its earlier events.
type backend struct {
	*session.Direct
	ring *ring
}

// Open starts op, or reads the ring from the number op.Since.
func (b backend) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	if op.Since != nil {
		return b.ring.after(*op.Since, op.Method, b.Event)
	}
	return b.Direct.Open(ctx, op)
}

// hello responds when the session is live or its opening has failed.
func (h *host) hello(ctx context.Context, s *relay.Process, _ *dialect.Inbound) (json.RawMessage, error) {
	s.Attach()
	if _, err := h.upstream(ctx); err != nil {
		return nil, err
	}
	if h.life.Err() != nil {
		return nil, wire.NewFault(wire.Closed, fmt.Sprintf("session %s is being closed", h.options.Name), nil)
	}
	return scan.JSON(relay.Hello{
		Version: h.options.Version, Dialect: h.conv.Dialect(), Endpoint: h.e.String(), Session: h.options.Name, Fingerprint: h.options.Fingerprint, Answers: h.options.Answers,
	}), nil
}

// Status describes a session in the form that `session status` and `session list` print. List also prints profiles.
type Status struct {
	Name     string        `json:"name"`
	Endpoint string        `json:"endpoint"`
	Dialect  string        `json:"dialect"`
	PID      int           `json:"pid"`
	State    string        `json:"state"` // connecting, live, reconnecting, silent (see List), or profile
	Started  string        `json:"started"`
	Age      float64       `json:"age"`     // in seconds
	Clients  int           `json:"clients"` // the number of attached commands, without the command that requests the status
	Traffic  trafficStatus `json:"traffic"`
	Pending  struct {
		Calls    int `json:"calls"`    // the number of local calls, including streams and subscriptions
		Requests int `json:"requests"` // the number of requests from the peer
	} `json:"pending"`
	Hooks         []string `json:"hooks"`
	Subscriptions []string `json:"subscriptions"`
	Events        struct {
		First int64 `json:"first"` // the number of the oldest event that is still in the ring
		Last  int64 `json:"last"`
		Bytes int   `json:"bytes"`
	} `json:"events"`
	Inbox struct {
		Waiting int `json:"waiting"`
		Claimed int `json:"claimed"`
	} `json:"inbox"`
	Reconnects int64    `json:"reconnects"`
	LastError  *string  `json:"last_error"`
	Log        []string `json:"log,omitempty"`
}

// JSON returns s in the form that is printed. For a silent session, or a profile, it omits unknown members.
func (s Status) JSON() json.RawMessage {
	if s.Started != "" {
		return scan.JSON(s)
	}
	return scan.JSON(struct {
		Name     string `json:"name"`
		Endpoint string `json:"endpoint,omitempty"`
		Dialect  string `json:"dialect,omitempty"`
		State    string `json:"state"`
		PID      int    `json:"pid,omitempty"`
	}{s.Name, s.Endpoint, s.Dialect, s.State, s.PID})
}

type trafficStatus struct {
	Sent     wayStatus `json:"sent"`
	Received wayStatus `json:"received"`
}

type wayStatus struct {
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

func (h *host) status(_ context.Context, asks *relay.Process, _ *dialect.Inbound) (json.RawMessage, error) {
	s := Status{
		Name: h.options.Name, Endpoint: h.e.String(), Dialect: h.e.Spec().Name, PID: os.Getpid(), State: "connecting",
		Started: h.started.UTC().Format(time.RFC3339), Age: time.Since(h.started).Round(time.Millisecond).Seconds(),
		Clients: h.sock.Attached(asks),
		Traffic: trafficStatus{h.traffic[wire.Send].status(), h.traffic[wire.Recv].status()}, Hooks: append([]string{}, h.hooks...), Subscriptions: []string{},
		LastError: h.lastErr.Load(),
	}
	s.Subscriptions = append(s.Subscriptions, wire.Map(h.options.Subscribe, func(op dialect.Op) string { return op.Method })...)
	if wire.IsClosed(h.live) && h.conv != nil {
		s.State, s.Reconnects = "reconnecting", h.conv.Reconnects.Load()
		if calls, requests, ok := h.conv.Pending(); ok {
			s.State = "live"
			s.Pending.Calls, s.Pending.Requests = calls, requests
		}
	}
	s.Events.First, s.Events.Last, s.Events.Bytes = h.ring.bounds()
	s.Inbox.Waiting, s.Inbox.Claimed = h.inbox.Counts()
	if h.options.Log != nil {
		s.Log = h.options.Log()
	}
	return s.JSON(), nil
}
