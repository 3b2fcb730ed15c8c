package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
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
	maps.Copy(all, relay.RawMethods(h.raw))
	return all
}

// The following methods implement relay.Owner.

// SuspendHook does nothing, because hooks do not use a session's socket.
func (h *host) SuspendHook(string) func() { return func() {} }

// Answers returns nil, because hooks do not use a session's socket.
func (h *host) Answers(string) wire.ID { return nil }

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

// upstream returns the connection of a live session.
func (h *host) upstream(ctx context.Context) (*session.Direct, error) {
	select {
	case <-h.live:
	case <-ctx.Done():
		if !wire.IsClosed(h.live) { // if the session is ending, the reason for that is more informative
			return nil, ctx.Err()
		}
	}
	return h.conv, h.failed
}

// The following methods implement relay.Backend.

func (h *host) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	d, err := h.upstream(ctx)
	switch {
	case err != nil:
		return nil, err
	case op.Since != nil:
		return h.ring.after(*op.Since, op.Method, d.Event)
	}
	return d.Open(ctx, op)
}

func (h *host) Notify(ctx context.Context, op dialect.Op) error {
	d, err := h.upstream(ctx)
	if err != nil {
		return err
	}
	return d.Notify(ctx, op)
}

func (h *host) Event(m *wire.Message, ev *wire.Event) error {
	d, err := h.upstream(context.Background())
	if err != nil {
		return err
	}
	return d.Event(m, ev)
}

func (h *host) Describe(ctx context.Context) (*catalog.Catalog, error) {
	d, err := h.upstream(ctx)
	if err != nil {
		return nil, err
	}
	return d.Describe(ctx)
}

func (h *host) Typing(ctx context.Context, method string) (*catalog.Catalog, error) {
	d, err := h.upstream(ctx)
	if err != nil {
		return nil, err
	}
	return d.Typing(ctx, method)
}

// hello responds when the session is live or its opening has failed.
func (h *host) hello(ctx context.Context, s *relay.Process, _ *dialect.Inbound) (json.RawMessage, error) {
	s.Attach()
	d, err := h.upstream(ctx)
	if err != nil {
		return nil, err
	}
	if h.life.Err() != nil {
		return nil, wire.NewFault(wire.Closed, fmt.Sprintf("session %s is being closed", h.options.Name), nil)
	}
	return scan.JSON(relay.Hello{
		Version: h.options.Version, Dialect: d.Dialect(), Endpoint: h.e.String(), Session: h.options.Name, Fingerprint: h.options.Fingerprint, Answers: h.options.Answers,
	}), nil
}

// Status describes a session in the form that `session status` prints. `session list` prints part of it.
type Status struct {
	Name          string        `json:"name"`
	Endpoint      string        `json:"endpoint"`
	Dialect       string        `json:"dialect"`
	PID           int           `json:"pid"`
	State         string        `json:"state"` // connecting, live, reconnecting, or silent (see List)
	Started       string        `json:"started"`
	Age           float64       `json:"age"`     // in seconds
	Clients       int           `json:"clients"` // the number of attached commands, without the command that requests the status
	Traffic       trafficStatus `json:"traffic"`
	Pending       pendingStatus `json:"pending"`
	Hooks         []string      `json:"hooks"`
	Subscriptions []string      `json:"subscriptions"`
	Events        eventsStatus  `json:"events"`
	Inbox         inboxStatus   `json:"inbox"`
	Reconnects    int64         `json:"reconnects"`
	LastError     *string       `json:"last_error"`
	Log           []string      `json:"log,omitempty"`
}

const stateSilent = "silent"

// JSON returns s in the form that is printed. For a silent session, it omits unknown members.
func (s Status) JSON() json.RawMessage {
	if s.State != stateSilent {
		return scan.JSON(s)
	}
	return scan.JSON(struct {
		Name  string `json:"name"`
		State string `json:"state"`
		PID   int    `json:"pid,omitempty"`
	}{s.Name, s.State, s.PID})
}

type trafficStatus struct {
	Sent     wayStatus `json:"sent"`
	Received wayStatus `json:"received"`
}

type wayStatus struct {
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

type pendingStatus struct {
	Calls    int `json:"calls"`    // the number of local calls, including streams and subscriptions
	Requests int `json:"requests"` // the number of requests from the peer
}

type eventsStatus struct {
	First int64 `json:"first"` // the number of the oldest event that is still in the ring
	Last  int64 `json:"last"`
	Bytes int   `json:"bytes"`
}

type inboxStatus struct {
	Waiting int `json:"waiting"`
	Claimed int `json:"claimed"`
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
