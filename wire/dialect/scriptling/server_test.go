package scriptling

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

type backend struct {
	respond func(dialect.Caller, dialect.Request) (json.RawMessage, error)
}

func (backend) Host() dialect.Host { return dialect.Host{} }

func (b backend) Catalog() *catalog.Catalog {
	return &catalog.Catalog{Methods: []catalog.Method{{Name: "C.__del__"}, {Name: "C.slow"}}}
}

func (b backend) Bind(c dialect.Caller) dialect.Responder { return responder{b: b, far: c} }

type responder struct {
	testkit.Unrestricted
	b   backend
	far dialect.Caller
}

func (r responder) Kind(method string) (catalog.Kind, bool) {
	return catalog.Call, method == "C.__del__" || method == "C.slow"
}

func (r responder) Respond(_ context.Context, q dialect.Request) (json.RawMessage, error) {
	return r.b.respond(r.far, q)
}

func (responder) Close() error { return nil }

func inbound(method, params string) *dialect.Inbound {
	return &dialect.Inbound{Msg: wire.Message{Kind: wire.Request, ID: wire.ID("1"), Method: method, Params: raw(params)}}
}

// client is the Caller of a connection that sends no requests.
type client struct{ dialect.Caller }

func (*client) Connection() *dialect.Connection { return &dialect.Connection{} }

// When the connection ends, objects are destroyed, the oldest first. Their destructors are bound to the ended connection, and their
// directories are removed.
func TestLastWords(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	host := &client{}
	var destroyed, states []string
	s := NewServer(backend{func(far dialect.Caller, q dialect.Request) (json.RawMessage, error) {
		destroyed = append(destroyed, q.Vars["RPCX_OBJECT"])
		states = append(states, q.Vars["RPCX_STATE"])
		if _, err := os.Stat(q.Vars["RPCX_STATE"]); err != nil {
			t.Error(err)
		}
		if far != host {
			t.Errorf("the destructor is bound to %v", far)
		}
		return nil, errors.New("in vain")
	}})
	h := s.Accept(host)
	for range 11 {
		if _, err := h.Handle(t.Context(), inbound(methodNew, `{"class":"C"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(h.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if want := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}; !slices.Equal(destroyed, want) {
		t.Errorf("destroyed: %v", destroyed)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for i, state := range states {
		if filepath.Base(state) != destroyed[i] {
			t.Errorf("the directory of object %s is %s", destroyed[i], state)
		}
	}
}

// A call that waits for an object fails when the object is destroyed, and so do later calls.
func TestCallsOfADestroyedObject(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		turn := make(chan struct{})
		s := NewServer(backend{func(_ dialect.Caller, q dialect.Request) (json.RawMessage, error) {
			if q.Method == "C.slow" {
				<-turn
			}
			return nil, nil
		}})
		h := s.Accept(&client{})
		ask := func(ctx context.Context, method, params string) <-chan error {
			done := make(chan error, 1)
			go func() {
				_, err := h.Handle(ctx, inbound(method, params))
				done <- err
			}()
			synctest.Wait()
			return done
		}
		testkit.OK(t, <-ask(t.Context(), methodNew, `{"class":"C"}`))
		slow := `{"object_id":"1","method":"slow"}`
		ctx, cancel := context.WithCancel(t.Context())
		first, cancelled := ask(t.Context(), methodMethod, slow), ask(ctx, methodMethod, slow)
		cancel()
		if err := <-cancelled; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled call: %v", err)
		}
		second := ask(t.Context(), methodMethod, slow)
		destroyed, after := ask(t.Context(), methodDestroy, `{"object_id":"1"}`), ask(t.Context(), methodMethod, slow)
		close(turn)
		for name, failed := range map[string]struct {
			done <-chan error
			want string
		}{"the first": {first, ""}, "the second": {second, "unknown object 1"}, "the end": {destroyed, ""}, "a call after destroy": {after, "unknown object 1"}} {
			err := <-failed.done
			var rpc *wire.Error
			if errors.As(err, &rpc); (err != nil) != (failed.want != "") || rpc != nil && rpc.Message != failed.want {
				t.Errorf("%s: %v, want %q", name, err, failed.want)
			}
		}
		if err := errors.Join(h.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
}
