package scriptling

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// An object is an instance that a host has created. Its calls run one at a time. While a call waits for a callback,
// another call may run, because the callback may have made it.
type object struct {
	id    string
	class *class
	state string // the directory for its hooks (RPCX_STATE)

	mu        sync.Mutex
	running   int         // the number of calls that have started and not ended
	waiting   int         // the number of callbacks that these calls wait for
	destroyed atomic.Bool // the object was destroyed; calls that wait to enter are rejected
	change    wire.Gate   // opens when running or waiting changes
}

// vars returns the environment variables of the object's hooks.
func (o *object) vars() map[string]string {
	return map[string]string{"RPCX_OBJECT": o.id, "RPCX_STATE": o.state}
}

// enter waits until the object's other calls end, or until ctx ends.
func (o *object) enter(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.running > o.waiting {
		if err := o.change.Await(ctx, &o.mu); err != nil {
			return err
		}
	}
	o.running++
	return nil
}

func (o *object) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running--
	o.change.Pass()
}

// wait records that a call of the object starts to wait for a callback (on) or stops waiting.
func (o *object) wait(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if on {
		o.waiting++
	} else {
		o.waiting--
	}
	o.change.Pass()
}

// add creates an object of a class, with its own directory.
func (s *server) add(cl *class) (*object, error) {
	dir, err := s.dir.Path()
	if err != nil {
		return nil, err
	}
	o := &object{id: strconv.FormatInt(s.last.Add(1), 10), class: cl}
	o.state = filepath.Join(dir, o.id)
	if err := os.Mkdir(o.state, 0o700); err != nil {
		return nil, err
	}
	s.objects.Store(o.id, o)
	return o, nil
}

// take removes o from the objects. It returns false if o was already removed.
func (s *server) take(o *object) bool {
	o.destroyed.Store(true)
	return s.objects.CompareAndDelete(o.id, o)
}

// clean removes the directory of an object.
func (s *server) clean(o *object) { _ = os.RemoveAll(o.state) }

// callbacksIn returns the ids of the callbacks in params.
func callbacksIn(p []byte) []string {
	var ids []string
	for v := range scan.Elements(scan.Get(p, "args")) {
		ids = findCallbacks(ids, v)
	}
	for _, v := range scan.Members(scan.Get(p, "kwargs")) {
		ids = findCallbacks(ids, v)
	}
	return ids
}

func findCallbacks(ids []string, val []byte) []string {
	switch kind, _ := scan.Text(scan.Get(val, "type")); kind {
	case "callback":
		if id, ok := scan.Text(scan.Get(scan.Get(val, "callback"), "id")); ok {
			ids = append(ids, id)
		}
	case "list":
		for v := range scan.Elements(scan.Get(val, "items")) {
			ids = findCallbacks(ids, v)
		}
	case "dict":
		for _, v := range scan.Members(scan.Get(val, "entries")) {
			ids = findCallbacks(ids, v)
		}
	}
	return ids
}
