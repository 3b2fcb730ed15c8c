package httpserver

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire/transport"
)

// A second message makes the response an event stream at once, even if the first one is large.
func TestPostSecondMessageAfterALargeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Accept", "application/json, text/event-stream")
		c := newPostConn(httptest.NewRecorder(), r, nil, transport.Config{CloseTimeout: time.Second})
		go c.serve()
		began := time.Now()
		for range 3 {
			if err := c.Send(bytes.Repeat([]byte("1"), 2*maxUnsent)); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("Send took %v", took)
		}
		c.Close()
	})
}
