package batch

import (
	"slices"

	"rpcx/commands/env"
	"rpcx/wire/scan"
)

// reader belongs to the goroutine that reads stdin.
type reader struct {
	read   []*job // lines that have been read and are not queued yet
	length int    // of those, in bytes
	spare  []*job // for the lines to come
}

// maxReadAtOnce is how many lines are queued together.
const maxReadAtOnce = 32

// How far lines are read ahead of the calls: so many, and no more bytes than that but for
// the last of them.
const (
	aheadLines = 256
	aheadBytes = 64 << 10
)

// ahead reports whether the lines that are queued are a part of what may be queued.
func (b *batch) ahead(parts int) bool {
	return parts*b.queued.len() >= max(aheadLines, 2*b.jobs) || parts*b.bytes >= aheadBytes
}

// feed makes a job of each line of stdin, until ctx ends.
func (b *batch) feed() error {
	if b.lines != nil {
		return b.feedGreeting()
	}
	return env.EachLineAhead(b.ctx, b.startQueued, b.take)
}

// feedGreeting is feed where the first lines may be the dialect's greeting: what follows
// it comes after it.
func (b *batch) feedGreeting() error {
	greets := true // the lines so far are of the greeting
	return b.lines.Each(func(n int64, line []byte) error {
		greets = greets && slices.Contains(b.spec.Bridge.Own, scan.String(scan.Get(line, "method")))
		err := b.take(n, line)
		b.startQueued()
		if greets {
			b.finish()
		}
		return err
	})
}

// take makes a job of a line.
func (b *batch) take(n int64, line []byte) error {
	j := b.newJob()
	if j == nil {
		return env.Cause(b.ctx, b.ctx.Err())
	}
	j.set(n, line)
	if b.pipeline != nil {
		j.read(b.ctx)
	}
	if !b.took(j) {
		return env.Cause(b.ctx, b.ctx.Err())
	}
	return nil
}

// newJob returns a job for the next line; nil: the batch has ended.
func (b *batch) newJob() *job {
	if len(b.spare) == 0 && !b.handIn() {
		return nil
	}
	n := len(b.spare) - 1
	j := b.spare[n]
	b.spare = b.spare[:n]
	return j
}

// took notes that the line of j has been read; false: the batch has ended.
func (b *batch) took(j *job) bool {
	b.read = append(b.read, j)
	b.length += len(j.line)
	return len(b.read) < maxReadAtOnce && b.length < aheadBytes || b.handIn()
}

// handIn queues what was read and gets what it takes to read on, for which it waits while
// enough is queued; false: the batch has ended.
func (b *batch) handIn() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queueRead()
	if b.ahead(1) {
		b.start()
		for b.ahead(2) && !b.stopped {
			b.changed.Wait()
		}
	}
	for len(b.spare) < maxReadAtOnce {
		if n := len(b.free); n > 0 {
			b.spare, b.free = append(b.spare, b.free[n-1]), b.free[:n-1]
		} else {
			b.spare = append(b.spare, &job{b: b})
		}
	}
	return !b.stopped
}

// queueRead queues what was read. The lock is held.
func (b *batch) queueRead() {
	for _, j := range b.read {
		if !b.stopped {
			b.queued.push(j)
			b.bytes += len(j.line)
		}
	}
	b.read, b.length = b.read[:0], 0
}
