package framing

import (
	"io"
	"net"
	"sync"

	"rpcx/wire"
)

// A wrap describes how a framing writes a message.
type wrap struct {
	prepare func(msg []byte) ([]byte, error)  // nil to leave messages unchanged
	head    func(dst []byte, size int) []byte // appends the bytes before a message; may be nil
	tail    string
	blanks  bool // the framing allows a space before a message
}

// An output collects messages and writes them. While one goroutine writes, other goroutines add messages, and the next
// write sends all that were added.
type output struct {
	dst  io.Writer
	wrap wrap
	seen func(d wire.Direction, b []byte) // wire.Options.Seen

	writing sync.Mutex // held during writes; locked before mu
	written uint64     // the number of written messages; guarded by writing

	mu      sync.Mutex
	pending []byte
	queued  uint64 // the number of queued messages
	err     error  // the first write error

	spare []byte // the buffer that pending does not use; guarded by writing
}

// Send implements wire.Conn.
func (o *output) Send(msg []byte) error {
	n, err := o.add(msg)
	if err != nil || n == 0 {
		return err
	}
	o.writing.Lock()
	defer o.writing.Unlock()
	if o.written >= n { // another goroutine has written the message
		return o.failure()
	}
	return o.write()
}

// SendBuffered implements wire.Batcher.
func (o *output) SendBuffered(msg []byte) error {
	_, err := o.add(msg)
	return err
}

// Flush implements wire.Batcher.
func (o *output) Flush() error {
	o.writing.Lock()
	defer o.writing.Unlock()
	return o.write()
}

// add appends msg to the pending bytes and returns its number. If many bytes are pending, add writes them first, so a
// sender is not faster than the peer. It writes a large message directly, without a copy, and returns 0.
func (o *output) add(msg []byte) (uint64, error) {
	if o.wrap.prepare != nil {
		var err error
		if msg, err = o.wrap.prepare(msg); err != nil {
			return 0, err
		}
	}
	if len(msg) >= bufferSize && o.seen == nil {
		return 0, o.writeLarge(msg)
	}
	o.mu.Lock()
	for o.err == nil && len(o.pending) > 0 && len(o.pending)+len(msg) >= bufferSize {
		o.mu.Unlock()
		if err := o.Flush(); err != nil {
			return 0, err
		}
		o.mu.Lock()
	}
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	if o.wrap.head != nil {
		o.pending = o.wrap.head(o.pending, len(msg))
	}
	o.pending = append(o.pending, msg...)
	o.pending = append(o.pending, o.wrap.tail...)
	o.queued++
	return o.queued, nil
}

// write writes all pending bytes. The caller must hold o.writing.
func (o *output) write() error {
	o.mu.Lock()
	out, err := o.pending, o.err
	o.pending = o.spare[:0]
	o.written = o.queued
	o.mu.Unlock()
	if o.spare = out[:0]; cap(out) > bufferKept {
		o.spare = nil
	}
	if err != nil || len(out) == 0 {
		return err
	}
	if o.seen != nil {
		o.seen(wire.Send, out)
	}
	_, err = o.dst.Write(out)
	return o.wrote(err)
}

// writeLarge writes the pending messages, and then msg.
func (o *output) writeLarge(msg []byte) error {
	o.writing.Lock()
	defer o.writing.Unlock()
	if err := o.write(); err != nil {
		return err
	}
	parts := net.Buffers{nil, msg, []byte(o.wrap.tail)}
	if o.wrap.head != nil {
		parts[0] = o.wrap.head(nil, len(msg))
	}
	_, err := parts.WriteTo(o.dst)
	return o.wrote(err)
}

// wrote stores the error of a write, which all later writes return.
func (o *output) wrote(err error) error {
	if err == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = closeError(err)
	return o.err
}

// blank writes a space, unless a write is in progress.
func (o *output) blank() error {
	if !o.writing.TryLock() {
		return nil
	}
	defer o.writing.Unlock()
	o.mu.Lock()
	if o.err == nil {
		o.pending = append([]byte{' '}, o.pending...)
	}
	o.mu.Unlock()
	return o.write()
}

func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
