package scriptling

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// A backend answers what respond says, as hooks do.
type backend struct {
	respond func(dialect.Caller, dialect.Request) (json.RawMessage, error)
}

func (b backend) Catalog() *catalog.Catalog {
	return &catalog.Catalog{Methods: []catalog.Method{{Name: "C.__del__"}}}
}

func (b backend) Bind(c dialect.Caller) dialect.Responder { return responder{b, c} }

type responder struct {
	b   backend
	far dialect.Caller
}

func (r responder) Kind(method string) (catalog.Kind, bool) {
	return catalog.Call, method == "C.__del__"
}

func (r responder) Respond(_ context.Context, q dialect.Request) (json.RawMessage, error) {
	return r.b.respond(r.far, q)
}

func (responder) Close() error { return nil }

// inbound is a request of a host.
func inbound(method, params string) *dialect.Inbound {
	return &dialect.Inbound{Msg: wire.Message{Kind: wire.Request, ID: wire.ID("1"), Method: method, Params: raw(params)}}
}

// Objects that are left are destroyed in the end, the oldest first. Nobody is
// left for their destructors to talk to, and their folders go.
func TestLastWords(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var gone, states []string
	s := NewServer(backend{func(far dialect.Caller, q dialect.Request) (json.RawMessage, error) {
		gone = append(gone, q.Vars["RPCX_OBJECT"])
		states = append(states, q.Vars["RPCX_STATE"])
		if _, err := os.Stat(q.Vars["RPCX_STATE"]); err != nil {
			t.Error(err)
		}
		_, err := far.Call(t.Context(), methodLog, nil)
		if !errors.Is(err, errNobody) || !errors.Is(far.Notify(t.Context(), dialect.Op{}), errNobody) {
			t.Errorf("a call to nobody: %v", err)
		}
		if _, err := far.Open(t.Context(), dialect.Op{}); !errors.Is(err, errNobody) {
			t.Errorf("a stream of nobody: %v", err)
		}
		return nil, errors.New("in vain")
	}})
	h := s.Accept(nobody{})
	for range 11 {
		if _, err := h.Handle(t.Context(), inbound(methodNew, `{"class":"C"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(h.(*handler).Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if want := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}; !slices.Equal(gone, want) {
		t.Errorf("destroyed: %v", gone)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for i, state := range states {
		if filepath.Base(state) != gone[i] {
			t.Errorf("the folder of object %s is %s", gone[i], state)
		}
	}
}
