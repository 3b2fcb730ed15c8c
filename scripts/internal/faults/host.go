//go:build linux

package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// newPeer returns the peer of a cell. With the same seed, it makes the same random choices.
func (c cell) newPeer(seed uint64, note func(phase)) *peer {
	return &peer{
		dialogue: c.run.peer, over: c.over, fault: c.fault, calls: c.run.calls,
		rng:  rand.New(rand.NewPCG(seed, 0)),
		done: make(chan struct{}), note: note,
	}
}

// recordIn makes a peer write its messages to a file in dir if the cell's command writes a tape.
func (p *peer) recordIn(c cell, dir string) *peer {
	if c.run.tapes {
		p.recordTo = filepath.Join(dir, saidFile)
	}
	return p
}

// A host is where a cell's peer can be reached.
type host struct {
	endpoint string
	end      func() // ends the peer and all its connections
}

// open makes the peer of a cell reachable.
func (c cell) open(r room, self string, seed uint64, note func(phase)) (host, error) {
	prefix := c.run.peer.prefix
	if c.over.child {
		if c.fault.at == atNobody && c.fault.kind == refused {
			self = filepath.Join(r.dir, "nobody")
		}
		words := []string{self, "child", c.name(), strconv.FormatUint(seed, 10), filepath.Join(r.dir, "occurred")}
		return host{prefix + c.over.scheme + strings.Join(words, " "), func() {}}, nil
	}
	network, address := "tcp", "127.0.0.1:0"
	if c.over.name == "unix" {
		network, address = "unix", filepath.Join(r.dir, "peer")
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return host{}, err
	}
	where := l.Addr().String()
	if c.over.http || c.over.ws {
		where += "/"
	}
	p := c.newPeer(seed, note).recordIn(c, r.dir)
	if c.fault.at == atNobody && c.fault.kind == refused {
		p.recordFault(head)
		l.Close()
	}
	var conns sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	conns.Go(func() {
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[raw] = true
			mu.Unlock()
			conns.Go(func() {
				p.accept(raw)
				raw.Close()
				mu.Lock()
				delete(open, raw)
				mu.Unlock()
			})
		}
	})
	return host{prefix + c.over.scheme + where, sync.OnceFunc(func() {
		close(p.done)
		l.Close()
		mu.Lock()
		for raw := range open {
			raw.Close()
		}
		mu.Unlock()
		conns.Wait()
	})}, nil
}

// accept plays the peer for a new client.
func (p *peer) accept(raw net.Conn) {
	if p.fault.at == atDial {
		p.recordFault(head)
		p.fault.dial(p, raw)
		return
	}
	var conn io.ReadWriteCloser = raw
	if p.over.tls {
		secure := tls.Server(raw, ours().config)
		if secure.Handshake() != nil {
			return
		}
		conn = secure
	}
	p.serve(newLink(conn, raw))
}

// child plays the peer as a child of rpcx with the arguments NAME SEED FILE. It writes the phase of the fault to FILE.
func child(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("child: %q", args)
	}
	c, err := parseCell(args[0])
	if err != nil {
		return err
	}
	seed, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	p := c.newPeer(seed, func(at phase) { os.WriteFile(args[2], []byte(at), 0o600) }).recordIn(c, filepath.Dir(args[2]))
	if c.fault.staysOpen {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	}
	var conn io.ReadWriteCloser = stdio{}
	if fd := os.Getenv("NODE_CHANNEL_FD"); fd != "" {
		n, err := strconv.Atoi(fd)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(n), "channel")
		if conn, err = net.FileConn(f); err != nil {
			return err
		}
		f.Close()
	}
	go func() { // keeps the runtime from reporting a deadlock
		for {
			time.Sleep(time.Hour)
		}
	}()
	l := newLink(conn, nil)
	if c.fault.staysOpen {
		p.clingOn(l)
		select {}
	}
	p.serve(l)
	return nil
}

// clingOn plays the peer, which does not close.
func (p *peer) clingOn(l *link) { p.over.carrier(p, l) }

// stdio is a child's stdin and stdout.
type stdio struct{}

func (stdio) Read(b []byte) (int, error)  { return os.Stdin.Read(b) }
func (stdio) Write(b []byte) (int, error) { return os.Stdout.Write(b) }
func (stdio) CloseRead() error            { return os.Stdin.Close() }
func (stdio) CloseWrite() error           { return os.Stdout.Close() }

func (stdio) Close() error {
	os.Stdin.Close()
	return os.Stdout.Close()
}
