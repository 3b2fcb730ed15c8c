package schemes

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// certified returns the TLS settings of a server and of a client that trusts the server.
func certified(t *testing.T) (server, client transport.TLS, a *authority) {
	a = newAuthority(t)
	cert, key := a.issue(time.Now().Add(time.Hour))
	return transport.TLS{Cert: cert, Key: key}, transport.TLS{CACert: a.File}, a
}

func TestStreamsCarryMessagesBothWays(t *testing.T) {
	server, client, _ := certified(t)
	for _, address := range []string{"tcp://127.0.0.1:0", "tcp://localhost:0", "tls://127.0.0.1:0", "tls://localhost:0", "unix:" + socketPath(t)} {
		for _, name := range framing.Names() {
			t.Run(address[:4]+" "+name, func(t *testing.T) {
				f, _ := framing.ByName(name)
				l := listening(t, address, transport.Config{Framing: f, TLS: server})
				echo(t, l)
				c := dialed(t, l.Endpoint(), transport.Config{Framing: f, TLS: client})
				for _, size := range []int{1, 63 << 10, 64 << 10, 65 << 10, 3 << 20} {
					wantEcho(t, c, `["`+strings.Repeat("x", size)+`"]`)
				}
			})
		}
	}
}

func TestStreamHalfClose(t *testing.T) {
	server, client, _ := certified(t)
	for _, address := range []string{"tcp://127.0.0.1:0", "tls://127.0.0.1:0", "unix:" + socketPath(t)} {
		t.Run(address[:4], func(t *testing.T) {
			l := listening(t, address, transport.Config{TLS: server})
			c := dialed(t, l.Endpoint(), transport.Config{TLS: client})
			s := mustAccept(t, l)
			mustSend(t, c, "[1]")
			testkit.OK(t, c.(wire.HalfCloser).CloseSend())
			wantRecv(t, s, "[1]")
			if _, err := s.Recv(); err != io.EOF {
				t.Fatalf("after half-close: %v", err)
			}
			mustSend(t, s, "[2]")
			wantRecv(t, c, "[2]")
			testkit.OK(t, c.(wire.ReadCloser).CloseRead())
			if _, err := c.Recv(); err != io.EOF {
				t.Fatalf("after CloseRead: %v", err)
			}
		})
	}
}

func TestStreamCloseUnblocks(t *testing.T) {
	server, client, _ := certified(t)
	for _, address := range []string{"tcp://127.0.0.1:0", "tls://127.0.0.1:0", "unix:" + socketPath(t)} {
		t.Run(address[:4], func(t *testing.T) {
			l := listening(t, address, transport.Config{TLS: server})
			c := dialed(t, l.Endpoint(), transport.Config{TLS: client})
			mustAccept(t, l) // without reading
			recv, send := recvError(c), flood(c, 1<<20)
			select {
			case err := <-send:
				t.Fatalf("Send failed before Close: %v", err)
			case <-time.After(50 * time.Millisecond): // whether or not it is waiting yet, it must end
			}
			returns(t, "Close", func() { c.Close(); c.Close() })
			for _, err := range []error{<-recv, <-send} {
				wantClose(t, err, 0, true)
			}
		})
	}
}

// Messages that were sent before Close arrive, even if the peer's bytes were never read, which would make the system reset the connection.
func TestStreamCloseLosesNothing(t *testing.T) {
	l := listening(t, "tcp://127.0.0.1:0", transport.Config{})
	c := dialed(t, l.Endpoint(), transport.Config{})
	s := mustAccept(t, l)
	for range 100 {
		mustSend(t, s, `["unread"]`)
	}
	big := `["` + strings.Repeat("x", 200<<10) + `"]`
	mustSend(t, c, big)
	c.Close()
	wantRecv(t, s, big)
}

func TestUnixDialWaitsForAFullQueue(t *testing.T) {
	path := socketPath(t)
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	testkit.OK(t, err)
	file := os.NewFile(uintptr(fd), "listener")
	defer file.Close()
	testkit.OK(t, errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0)))
	for { // until the backlog is full
		c, err := net.Dial("unix", path)
		if errors.Is(err, syscall.EAGAIN) {
			break
		}
		testkit.OK(t, err)
		defer c.Close()
	}
	_, err = dial(t.Context(), "unix:"+path, transport.Config{ConnectTimeout: 50 * time.Millisecond})
	wantFault(t, err, wire.Unreachable, "no response within 50ms")

	l, err := net.FileListener(file)
	testkit.OK(t, err)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer l.Close()
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	})
	dialed(t, "unix:"+path, transport.Config{})
}

// A TLS 1.2 server that requires a client certificate says only "handshake failure". One that merely requests a certificate serves
// clients without one.
func TestTLS12ClientCertificates(t *testing.T) {
	server, client, _ := certified(t)
	pair, err := tls.LoadX509KeyPair(server.Cert, server.Key)
	testkit.OK(t, err)
	for _, scheme := range []string{"tls", "wss", "https"} {
		for _, auth := range []tls.ClientAuthType{tls.RequireAnyClientCert, tls.RequestClientCert} {
			far, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, MaxVersion: tls.VersionTLS12, ClientAuth: auth})
			testkit.OK(t, err)
			defer far.Close()
			go func() {
				for {
					conn, err := far.Accept()
					if err != nil {
						return
					}
					if conn.(*tls.Conn).Handshake() != nil {
						io.Copy(io.Discard, conn.(*tls.Conn).NetConn()) // because unread bytes reset the connection, and the alert would be lost
					}
					conn.Close()
				}
			}()
			c, err := dial(t.Context(), scheme+"://"+far.Addr().String(), transport.Config{TLS: client})
			if err == nil {
				defer c.Close()
				if err = c.Send([]byte("[1]")); err == nil {
					_, err = c.Recv()
				}
			}
			if auth == tls.RequireAnyClientCert {
				wantFault(t, err, wire.Auth, "requires a client certificate", "--cert")
			} else if f := wire.AsFault(err); f != nil && f.Kind == wire.Auth {
				t.Errorf("%s: a certificate is optional: %v", scheme, err)
			}
		}
	}
}

func TestTLSClientCertificates(t *testing.T) {
	server, client, a := certified(t)
	server.CACert = a.File
	l := listening(t, "tls://127.0.0.1:0", transport.Config{TLS: server, Warn: func(string) {}})
	echo(t, l)

	// In TLS 1.3, the server rejects a certificate after the client's handshake, so the client's first Recv fails.
	anonymous, err := dial(t.Context(), l.Endpoint(), transport.Config{TLS: client})
	if err == nil {
		defer anonymous.Close()
		_, err = anonymous.Recv()
	}
	wantFault(t, err, wire.Auth, "client certificate", "--cert")

	client.Cert, client.Key = a.issue(time.Now().Add(time.Hour))
	c := dialed(t, l.Endpoint(), transport.Config{TLS: client})
	wantEcho(t, c, "[1]")
}

// A server that ends a TLS connection without close_notify may not have sent everything. The end of a client is regular: some,
// such as ncat, end only their sending direction in this way.
func TestTLSWithoutCloseNotify(t *testing.T) {
	server, client, a := certified(t)
	pair, err := tls.LoadX509KeyPair(server.Cert, server.Key)
	testkit.OK(t, err)
	truncated := func(conn wire.Conn) {
		t.Helper()
		wantRecv(t, conn, "[1]")
		_, err := conn.Recv()
		if wantClose(t, err, 0, false); !strings.Contains(err.Error(), "close_notify") {
			t.Error(err)
		}
	}
	for _, notify := range []bool{true, false} {
		far, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
		testkit.OK(t, err)
		defer far.Close()
		go func() {
			if conn, err := far.Accept(); err == nil {
				io.WriteString(conn, "[1]\n")
				if !notify {
					conn = conn.(*tls.Conn).NetConn()
				}
				conn.Close()
			}
		}()
		c := dialed(t, "tls://"+far.Addr().String(), transport.Config{TLS: client})
		if !notify {
			truncated(c)
			continue
		}
		wantRecv(t, c, "[1]")
		if _, err := c.Recv(); err != io.EOF {
			t.Error(err)
		}
	}

	l := listening(t, "tls://127.0.0.1:0", transport.Config{TLS: server})
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	half := func() net.Conn {
		conn, err := tls.Dial("tcp", mustParse(t, l.Endpoint()).Host, &tls.Config{RootCAs: roots})
		testkit.OK(t, err)
		t.Cleanup(func() { conn.Close() })
		_, err = io.WriteString(conn, "[1]\n")
		testkit.OK(t, errors.Join(err, conn.NetConn().(*net.TCPConn).CloseWrite()))
		return conn
	}
	conn := half()
	s := mustAccept(t, l)
	wantRecv(t, s, "[1]")
	if _, err := s.Recv(); err != io.EOF {
		t.Error(err)
	}
	mustSend(t, s, "[2]")
	s.Close()
	if got, err := io.ReadAll(conn); string(got) != "[2]\n" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	half()
	s, err = l.(transport.PeerAccepter).AcceptPeer() // which is the server
	testkit.OK(t, err)
	defer s.Close()
	truncated(s)
}

func TestListenerClose(t *testing.T) {
	server, _, _ := certified(t)
	path := socketPath(t)
	for _, address := range []string{"tcp://127.0.0.1:0", "tls://127.0.0.1:0", "unix:" + path} {
		l := listening(t, address, transport.Config{TLS: server})
		if strings.HasPrefix(address, "unix") {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the socket is %v, %v", info.Mode(), err)
			}
		}
		done := make(chan error, 1)
		go func() { _, err := l.Accept(); done <- err }()
		testkit.OK(t, l.Close())
		l.Close()
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: Accept returned %v", address, err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: a later Accept returned %v", address, err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket was not removed")
	}
}

func TestTLSOldVersionsAreRefused(t *testing.T) {
	server, client, _ := certified(t)
	l := listening(t, "tls://127.0.0.1:0", transport.Config{TLS: server, Warn: func(string) {}})
	old := &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10, InsecureSkipVerify: true}
	if _, err := tls.Dial("tcp", strings.TrimPrefix(l.Endpoint(), "tls://"), old); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("a client with TLS 1.1: %v", err)
	}
	pair, err := tls.LoadX509KeyPair(server.Cert, server.Key)
	testkit.OK(t, err)
	old.Certificates = []tls.Certificate{pair}
	far, err := tls.Listen("tcp", "127.0.0.1:0", old)
	testkit.OK(t, err)
	defer far.Close()
	go func() {
		if conn, err := far.Accept(); err == nil {
			conn.(*tls.Conn).Handshake()
			conn.Close()
		}
	}()
	_, err = dial(t.Context(), "tls://"+far.Addr().String(), transport.Config{TLS: client})
	wantFault(t, err, wire.Unreachable, "version")
}
