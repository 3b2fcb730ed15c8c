package probes_test

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"rpcx/wire"
	"rpcx/wire/jq"
)

// spoiling is a connection whose messages a jq program makes others of: none, one or
// several.
type spoiling struct {
	wire.Conn
	program *jq.Program
	waiting [][]byte

	mu sync.Mutex
	on bool // else they are as they came
}

// begin has the messages spoilt that come from now on.
func (s *spoiling) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = true
}

func (s *spoiling) Recv() ([]byte, error) {
	for {
		if len(s.waiting) > 0 {
			msg := s.waiting[0]
			s.waiting = s.waiting[1:]
			return msg, nil
		}
		msg, err := s.Conn.Recv()
		s.mu.Lock()
		on := s.on
		s.mu.Unlock()
		if err != nil || !on {
			return msg, err
		}
		err = s.program.Run(context.Background(), bytes.Clone(msg), func(out json.RawMessage) (bool, error) {
			s.waiting = append(s.waiting, bytes.Clone(out))
			return true, nil
		})
		if err != nil { // the program is not about this message
			s.waiting = append(s.waiting, bytes.Clone(msg))
		}
	}
}
