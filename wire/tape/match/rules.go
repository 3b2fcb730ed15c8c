package match

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
)

// Rules decides which differences between messages count. It is safe for concurrent use.
type Rules struct {
	shape     dialect.Shape
	generated []place
	varies    []place
	ends      []place
	ignore    []*jq.Paths
	seed      maphash.Seed // the seed for Hash
}

// NewRules returns the rules for a dialect. The parts of messages that ignore selects are not compared.
func NewRules(s dialect.Shape, ignore []*jq.Paths) *Rules {
	return &Rules{shape: s, generated: places(s.MadeUp), varies: places(s.Varies), ends: places(s.Ends), ignore: ignore, seed: maphash.MakeSeed()}
}

// Shape returns the Shape of the dialect.
func (r *Rules) Shape() *dialect.Shape { return &r.shape }

// Polled returns the name, as JSON, of the job whose status the request msg asks for. For any other request, it returns
// nil.
func (r *Rules) Polled(method string, msg []byte) []byte {
	if p := r.poll(method); p != nil {
		return scan.At(msg, p.Job)
	}
	return nil
}

// Running reports whether the job that msg describes is still running. msg is the response to a request of method.
func (r *Rules) Running(method string, msg []byte) bool {
	p := r.poll(method)
	if p == nil {
		return false
	}
	state, ok := scan.Text(scan.At(msg, p.State))
	return ok && slices.Contains(p.Running, state)
}

func (r *Rules) poll(method string) *dialect.Poll {
	return wire.Find(r.shape.Polls, func(p *dialect.Poll) bool { return p.Method == method })
}

// A place is a dialect.Place that has been split into its parts.
type place struct {
	method string
	path   []string
}

func places(from []dialect.Place) []place {
	all := make([]place, len(from))
	for i, p := range from {
		all[i] = place{p.Method, strings.Split(strings.TrimPrefix(p.Pointer, "/"), "/")}
	}
	return all
}

// at reports whether all contains path for messages of method.
func at(all []place, method string, path []string) bool {
	for _, p := range all {
		if matchPath(p.path, path) && matchName(p.method, method) {
			return true
		}
	}
	return false
}

func matchName(pattern, name string) bool {
	switch {
	case pattern == "", pattern == name:
		return true
	case len(pattern) > 1 && strings.HasPrefix(pattern, "*") && strings.HasSuffix(pattern, "*"):
		return strings.Contains(name, pattern[1:len(pattern)-1])
	case strings.HasSuffix(pattern, "*"):
		return strings.HasPrefix(name, pattern[:len(pattern)-1])
	case strings.HasPrefix(pattern, "*"):
		return strings.HasSuffix(name, pattern[1:])
	}
	return false
}

func matchPath(pattern, path []string) bool {
	for i, step := range pattern {
		if step == "**" {
			for skip := i; skip <= len(path); skip++ {
				if matchPath(pattern[i+1:], path[skip:]) {
					return true
				}
			}
			return false
		}
		if i >= len(path) || step != "*" && step != path[i] {
			return false
		}
	}
	return len(pattern) == len(path)
}

// ignoreTime is how long each run of an --ignore program may take.
const ignoreTime = time.Second

// ignored returns the pointers to the parts of msg that --ignore selects. If a program fails, it selects nothing.
func (r *Rules) ignored(msg []byte) map[string]bool {
	ctx, cancel := context.WithTimeout(context.Background(), ignoreTime)
	defer cancel()
	var all []string
	for _, p := range r.ignore {
		pointers, _ := p.Of(ctx, msg)
		all = append(all, pointers...)
	}
	return wire.SetOf(all)
}
