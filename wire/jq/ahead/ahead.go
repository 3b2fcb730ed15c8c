// Package ahead runs a jq program on a block of inputs on several cores, for a reader that needs the outputs of one
// input after the other. It only saves time: the results are the same without it.
//
// The reader runs the program from the start of the block, and workers take inputs from the end. The reader therefore
// never waits for an input that it could run itself, or for an input after the current one, which could run forever
// without being needed. When the reader meets the workers, only the inputs that they are running remain.
package ahead

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"

	"rpcx/wire"
	"rpcx/wire/jq"
)

// maxKept is the maximum number of bytes of outputs that wait for the reader. Above it, workers wait.
const maxKept = 1 << 20

// atOnce is the number of bytes of outputs that the reader receives before their input is finished.
const atOnce = 4 << 10

// shareLeast is the minimum number of inputs per worker.
const shareLeast = 8

// A Block is a list of inputs, some of which workers may have started. Run and End must be called by the same
// goroutine.
type Block struct {
	program *jq.Program
	input   func(i int) []byte
	ctx     context.Context // the context of the workers
	cancel  context.CancelFunc
	workers sync.WaitGroup

	mu      sync.Mutex
	changed sync.Cond // signals that the reader or a worker can continue
	next    int       // inputs before this one belong to the reader
	begun   int       // this input and later ones belong to the workers
	reading int       // the input whose outputs the reader is reading while a worker runs it, or -1
	kept    int       // the number of bytes in the outs of results
	results []result
}

// A result is what a worker has computed for an input so far.
type result struct {
	input []byte
	outs  []json.RawMessage // outputs that the reader has not received
	done  bool
	err   error // valid if done is set
}

// Start lets workers run program on n inputs. RunsAhead must be true for program. Workers call input, one at a time. It
// returns nil if there is no such input. The inputs must not change until the caller has called End.
func Start(ctx context.Context, program *jq.Program, n int, input func(i int) []byte) *Block {
	b := &Block{program: program, input: input, begun: n, reading: -1, results: make([]result, n)}
	b.changed.L = &b.mu
	b.ctx, b.cancel = context.WithCancel(ctx)
	for range min(runtime.GOMAXPROCS(0)-1, max(1, n/shareLeast)) {
		b.workers.Go(b.work)
	}
	return b
}

// End stops the workers and waits for them.
func (b *Block) End() {
	b.cancel()
	b.mu.Lock()
	b.next = len(b.results)
	b.changed.Broadcast()
	b.mu.Unlock()
	b.workers.Wait()
}

// work runs the program on inputs until the workers meet the reader.
func (b *Block) work() {
	defer wire.Guard()
	for i, in := b.take(); i >= 0; i, in = b.take() {
		var outs []json.RawMessage
		size := 0
		err := b.program.Run(b.ctx, in, func(out json.RawMessage) (bool, error) {
			outs = append(outs, out)
			if size += len(out); size < atOnce {
				return true, nil
			}
			b.keep(i, size, result{outs: outs})
			outs, size = nil, 0
			return b.ctx.Err() == nil, b.ctx.Err()
		})
		b.keep(i, size, result{outs: outs, done: true, err: err})
	}
}

// take claims the last free input for a worker. It returns -1 if none is left.
func (b *Block) take() (i int, in []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.begun > b.next {
		b.begun--
		r := &b.results[b.begun]
		if r.input = b.input(b.begun); r.input != nil {
			return b.begun, r.input
		}
		r.done = true
	}
	return -1, nil
}

// keep stores outputs of input i, size bytes in total, for the reader. It waits while too many bytes are stored.
func (b *Block) keep(i, size int, more result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &b.results[i]
	for b.kept+size > maxKept && !(b.reading == i && len(r.outs) == 0) && b.ctx.Err() == nil {
		b.changed.Wait()
	}
	r.outs, r.done, r.err = append(r.outs, more.outs...), more.done, more.err
	b.kept += size
	b.changed.Broadcast()
}

// Run passes the outputs of the program for input i to yield, as jq.Program.Run does, if a worker has the same input
// in. Otherwise ok is false, and the reader must run the program itself. The caller can skip inputs, but must not go
// back.
func (b *Block) Run(i int, in []byte, yield func(out json.RawMessage) (bool, error)) (ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = max(b.next, i+1)
	if i < b.begun {
		return false, nil
	}
	r := &b.results[i]
	if !same(r.input, in) {
		return false, nil
	}
	b.reading = i
	b.changed.Broadcast()
	for {
		for len(r.outs) == 0 && !r.done {
			b.changed.Wait()
		}
		if len(r.outs) == 0 {
			return true, r.err
		}
		if more, err := b.give(r, yield); err != nil || !more {
			return true, err
		}
	}
}

// same reports whether a and b share memory.
func same(a, b []byte) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }

// give passes the available outputs to yield. In the meantime, workers can store more.
func (b *Block) give(r *result, yield func(out json.RawMessage) (bool, error)) (more bool, err error) {
	outs := r.outs
	r.outs = nil
	for _, out := range outs {
		b.kept -= len(out)
	}
	b.changed.Broadcast()
	b.mu.Unlock()
	defer b.mu.Lock()
	for _, out := range outs {
		if more, err := yield(out); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
