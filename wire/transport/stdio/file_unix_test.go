//go:build unix

package stdio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"testing/iotest"

	"rpcx/wire/testkit"
)

// A write that fills a pipe continues when the pipe is read. Close ends such a write, whether writes are nonblocking or not.
func TestStdioFullPipe(t *testing.T) {
	for _, waits := range []bool{false, true} {
		in, out, err := os.Pipe()
		testkit.OK(t, err)
		defer in.Close()
		s, err := newFileStream(out)
		testkit.OK(t, err)
		s.waits.Store(waits)
		const size = 1 << 20
		wrote := make(chan error, 1)
		go func() {
			_, err := s.Write(bytes.Repeat([]byte("x"), size))
			if err == nil {
				_, err = s.Write(bytes.Repeat([]byte("y"), size))
			}
			wrote <- err
		}()
		b := make([]byte, size)
		if _, err := io.ReadFull(in, b); err != nil || bytes.Count(b, []byte("x")) != size {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(in, b[:1]); err != nil || b[0] != 'y' {
			t.Fatalf("%q, %v", b[0], err)
		}
		s.Close()
		if err := <-wrote; !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	}
}

func TestReadsByteByByte(t *testing.T) {
	in, out, err := os.Pipe()
	testkit.OK(t, err)
	s, err := newFileStream(in)
	testkit.OK(t, err)
	defer s.Close()
	go func() {
		defer out.Close()
		_, _ = out.WriteString("abc")
	}()
	got, err := io.ReadAll(iotest.OneByteReader(io.LimitReader(s, 3)))
	if err != nil || string(got) != "abc" {
		t.Errorf("%q, %v", got, err)
	}
}
