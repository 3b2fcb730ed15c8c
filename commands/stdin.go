package commands

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"rpcx/wire"
)

// eachLine calls take with each line of stdin that is not blank, whatever its
// length and with or without its end, and its number, until take fails.
func eachLine(take func(n int64, line []byte) error) error {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for n := int64(1); ; n++ {
		line, err := in.ReadBytes('\n')
		if len(line) > wire.DefaultMaxMessage {
			return wire.NewFault(wire.Usage, fmt.Sprintf("line %d of stdin is longer than %d bytes", n, wire.DefaultMaxMessage), nil)
		}
		if line = trimBlank(line); len(line) > 0 {
			if err := take(n, line); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return stdinFault(err)
		}
	}
}

// readStdin reads all of stdin.
func readStdin() ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(os.Stdin, wire.DefaultMaxMessage+1))
	switch {
	case err != nil:
		return nil, stdinFault(err)
	case len(b) > wire.DefaultMaxMessage:
		return nil, wire.NewFault(wire.Usage, fmt.Sprintf("stdin holds more than %d bytes", wire.DefaultMaxMessage), nil)
	}
	return b, nil
}

func stdinFault(err error) error { return wire.NewFault(wire.IO, "reading stdin: "+err.Error(), err) }

func trimBlank(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }
