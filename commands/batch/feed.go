package batch

import (
	"slices"

	"rpcx/commands/env"
	"rpcx/wire/scan"
)

// A reader turns lines of stdin into jobs. It runs in the goroutine that reads stdin.
type reader struct {
	*flow
	read   []*job // lines that are not queued
	length int    // the size of read in bytes
	spare  []*job // memory for further lines
}

// maxReadAtOnce bounds the lines that are queued together.
const maxReadAtOnce = 32

// feed turns each line of stdin into a job until the batch's context ends, and waits until all jobs are printed.
func (r *reader) feed() error {
	var err error
	if r.b.lines != nil {
		err = r.feedHandshake()
	} else {
		err = env.EachLineAhead(r.ctx, r.startRead, r.take)
	}
	r.finish()
	return err
}

// feedHandshake is like feed, but for a batch whose first lines may be the dialect's handshake. It sends the
// remaining lines after the handshake.
func (r *reader) feedHandshake() error {
	inHandshake := true // all lines so far belong to the handshake
	return r.b.lines.Each(func(n int64, line []byte) error {
		inHandshake = inHandshake && slices.Contains(r.b.spec.Bridge.Own, scan.String(scan.Get(line, "method")))
		err := r.take(n, line)
		r.startRead()
		if inHandshake {
			r.finish()
		}
		return err
	})
}

func (r *reader) take(n int64, line []byte) error {
	if len(r.spare) == 0 && !r.handIn() {
		return env.Cause(r.ctx, r.ctx.Err())
	}
	last := len(r.spare) - 1
	j := r.spare[last]
	r.spare = r.spare[:last]
	j.set(n, line)
	if r.pipeline != nil {
		r.b.read(r.ctx, j)
	}
	r.read = append(r.read, j)
	r.length += len(j.line)
	if (len(r.read) == maxReadAtOnce || r.length >= aheadBytes) && !r.handIn() {
		return env.Cause(r.ctx, r.ctx.Err())
	}
	return nil
}

// handIn queues the lines that were read, and gets memory for new ones. It waits while the queue is full. It returns
// false if the batch has ended.
func (r *reader) handIn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queueRead()
	if r.jobs.ahead(1) {
		r.start()
		for r.jobs.ahead(2) && !r.jobs.stopped {
			r.changed.Wait()
		}
	}
	for len(r.spare) < maxReadAtOnce {
		j := r.jobs.reuse()
		if j == nil {
			j = &job{f: r.flow}
			r.all = append(r.all, j)
		}
		r.spare = append(r.spare, j)
	}
	return !r.jobs.stopped
}

// queueRead queues the lines that were read. The caller holds the lock.
func (r *reader) queueRead() {
	r.jobs.queue(r.read)
	r.read, r.length = r.read[:0], 0
}

// startRead queues the jobs that were read, and starts as many as possible before the next read of stdin.
func (r *reader) startRead() {
	r.mu.Lock()
	r.queueRead()
	r.start()
	r.mu.Unlock()
	r.wakePrinter() // for jobs that ended at once
}

// finish waits until all jobs have ended and are printed.
func (r *reader) finish() {
	r.startRead()
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.jobs.done() {
		r.changed.Wait()
	}
}
