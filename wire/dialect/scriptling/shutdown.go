package scriptling

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"rpcx/wire/dialect"
)

// destructorsTimeout is the total time for the destructors of all objects that exist at the end.
const destructorsTimeout = 2 * time.Second

// Close destroys the objects that are left, oldest first, and removes their
// folders.
func (s *server) Close() error {
	s.mu.Lock()
	dir, left := s.dir, make([]*object, 0, len(s.objects))
	for _, o := range s.objects {
		left = append(left, o)
	}
	s.dir = nil
	clear(s.objects)
	s.mu.Unlock()
	if dir == nil {
		return nil
	}
	number := func(o *object) int { n, _ := strconv.Atoi(o.id); return n }
	slices.SortFunc(left, func(a, b *object) int { return number(a) - number(b) })
	s.destroyAll(left)
	return dir.Remove()
}

// destroyAll runs the destructors of objects whose connections have ended.
func (s *server) destroyAll(left []*object) {
	if len(left) == 0 {
		return
	}
	r := s.b.Bind(nobody{})
	defer func() { _ = r.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), destructorsTimeout)
	defer cancel()
	args, _ := plainArguments(nil)
	for _, o := range left {
		hook := o.class.Name + "." + destructor
		if _, ok := r.Kind(hook); !ok {
			continue
		}
		_, _ = r.Respond(ctx, dialect.Request{
			Method: hook, Params: args, Vars: o.vars(), // no one is left who could be notified of the failure
		})
	}
}

// nobody is the Caller of hooks that run after their connection has ended. It refuses every request.
type nobody struct{}

var errNobody = errors.New("the connection has ended")

func (nobody) Open(context.Context, dialect.Op) (dialect.Stream, error) { return nil, errNobody }

func (nobody) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errNobody
}

func (nobody) CallOp(context.Context, dialect.Op) (json.RawMessage, error) { return nil, errNobody }

func (nobody) Connection() *dialect.Connection { return &dialect.Connection{} }

func (nobody) Notify(context.Context, dialect.Op) error { return errNobody }

func (nobody) CloseWith(int, string) error { return nil }
