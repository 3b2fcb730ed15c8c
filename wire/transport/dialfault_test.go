package transport

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"rpcx/wire"
)

// late is a context whose deadline has passed, but whose timer has not fired.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// If the caller's own deadline ends the dialling, the error does not give --connect-timeout as the limit.
func TestDialFaultNamesTheRightLimit(t *testing.T) {
	f := DialFault(late{t.Context()}, "tcp://h:1", 10*time.Second, os.ErrDeadlineExceeded)
	if strings.Contains(f.Message, "10s") || f.Hint != "" {
		t.Errorf("%s (%s)", f.Message, f.Hint)
	}
	f = DialFault(t.Context(), "tls://h:1", 10*time.Second, &net.OpError{Op: "remote error", Err: errors.New("tls: protocol version not supported")})
	if f.Kind != wire.Unreachable || !strings.Contains(f.Message, "the peer ended the TLS handshake: protocol version") {
		t.Error(f.Message)
	}
	f = DialFault(t.Context(), "tcp://h:1", 10*time.Second, os.ErrDeadlineExceeded)
	if !strings.Contains(f.Message, "no response within 10s") {
		t.Error(f.Message)
	}
}

// rpcx retries if the peer refuses, closes or does not respond, but not if a permission is missing or the address is wrong.
func TestNotThere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other error numbers")
	}
	for _, there := range []error{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, fs.ErrNotExist, io.EOF, io.ErrUnexpectedEOF,
		context.DeadlineExceeded, os.ErrDeadlineExceeded, &net.DNSError{IsNotFound: true}, &net.OpError{Op: "dial", Err: timeout{}},
	} {
		if !DialFault(t.Context(), "tcp://h:1", time.Second, fmt.Errorf("dial: %w", there)).Unreached {
			t.Errorf("%v is not retried", there)
		}
	}
	for _, err := range []error{syscall.EACCES, fs.ErrPermission, errors.New("no"), context.Canceled, x509.UnknownAuthorityError{}} {
		if DialFault(t.Context(), "tcp://h:1", time.Second, fmt.Errorf("dial: %w", err)).Unreached {
			t.Errorf("%v is retried", err)
		}
	}
}

type timeout struct{}

func (timeout) Timeout() bool { return true }

func (timeout) Temporary() bool { return false }

func (timeout) Error() string { return "it took too long" }

// A server can request a pause in seconds or until a date. The failure contains only the beginning of the body.
func TestRetryAfter(t *testing.T) {
	for given, want := range map[string]int{
		"": 0, "2": 2, "0.5": 1, " 3 ": 3, "-1": 0, "soon": 0, "999999": 24 * 3600,
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat):      0,
		time.Now().Add(100 * time.Hour).UTC().Format(http.TimeFormat): 24 * 3600,
	} {
		got := HTTPFault("x", &http.Response{Header: http.Header{"Retry-After": {given}}}, make([]byte, MaxErrorBody+1)).HTTP
		if got.RetryAfter != want || len(got.Body) != MaxErrorBody {
			t.Errorf("%q: %d s, not %d, with %d bytes", given, got.RetryAfter, want, len(got.Body))
		}
	}
}
