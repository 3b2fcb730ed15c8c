package jsonrpc

import (
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// ReadError returns the error for the value of a message's error member.
func ReadError(val []byte) *wire.Error { return parseError(val) }

// failure reads the error of a response. If that is a string beside a message, as in WebDriver BiDi, the string is its
// code.
func (f *fields) failure() *wire.Error {
	e := parseError(f.err)
	if text, ok := scan.Text(f.text); ok && scan.Type(f.err) == 's' {
		e.Code, e.Message, e.Raw = f.err, text, nil
	}
	return e
}

// parseError reads an error in any of the forms that servers use.
func parseError(val []byte) *wire.Error {
	e := &wire.Error{Raw: val}
	if text, ok := scan.Text(val); ok {
		e.Message = text
		return e
	}
	if scan.Type(val) != 'o' {
		e.Message = string(scan.Compact(nil, val))
		return e
	}
	e.Code, e.Data = scan.Get(val, "code"), scan.Get(val, "data")
	message := scan.Get(val, "message")
	text, ok := scan.Text(message)
	switch {
	case ok:
		e.Message = text
	case message != nil && !isNull(message):
		e.Message = string(scan.Compact(nil, message))
	case e.Code == nil:
		e.Message = string(scan.Compact(nil, val))
	}
	if e.Code != nil && !isID(e.Code) {
		e.Code = nil
	}
	if r := scan.Get(e.Data, "retryable"); r != nil {
		var yes bool
		if json.Unmarshal(r, &yes) == nil {
			e.Retryable = &yes
		}
	}
	return e
}
