package recorder

import (
	"errors"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/tape"
)

func closeOf(err error) *tape.Close {
	switch closed, ok := errors.AsType[*wire.CloseError](err); {
	case ok:
		c := &tape.Close{Code: closed.Code, Reason: plain(closed.Reason), Clean: closed.Clean}
		if closed.Child != nil {
			child := *closed.Child
			child.Stderr = nil // stderr may contain secrets
			c.Child = &child
		}
		if closed.Err != nil && !closed.Clean {
			c.Error = plain(closed.Err.Error())
		}
		return c
	case err == nil, err.Error() == "EOF":
		return &tape.Close{Clean: true}
	}
	return &tape.Close{Error: plain(err.Error())}
}

// plain redacts text that comes from the peer or from an error.
func plain(text string) string { return string(redact.Text([]byte(text))) }
