package tape

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// depth is the maximum nesting of a line, which is that of a message plus one.
const depth = wire.DefaultMaxDepth + 1

func parseHeader(b []byte) (Header, error) {
	var h Header
	version := scan.Get(b, "tape")
	if scan.Type(b) != 'o' || version == nil {
		return h, errors.New(`no header: a tape begins with a line such as {"tape":1,"dialect":"jsonrpc"}`)
	}
	if err := scan.Valid(b, depth); err != nil {
		return h, fmt.Errorf("the header is not JSON: %w", err)
	}
	if !scan.Equal(version, []byte("1")) {
		return h, fmt.Errorf("tape version %s is not supported; use 1", scan.Compact(nil, version))
	}
	var started string
	for member, to := range map[string]*string{"endpoint": &h.Endpoint, "dialect": &h.Dialect, "rpcx": &h.Program, "started": &started} {
		if err := text(scan.Get(b, member), to); err != nil {
			return h, fmt.Errorf("the header's %q %w", member, err)
		}
	}
	if started == "" {
		return h, nil
	}
	var err error
	if h.Started, err = time.Parse(time.RFC3339Nano, started); err != nil {
		return h, fmt.Errorf(`the header's "started" is not a time such as 2026-01-31T12:00:00Z`)
	}
	return h, nil
}

// parse parses b, one line of a tape, into l. The slices of l are parts of b. If the line has no time, l.Time is not
// changed.
func (l *Line) parse(b []byte) error {
	dir := false
	m := scan.ReadObject(b, depth)
	for key, val, ok := m.Next(); ok; key, val, ok = m.Next() {
		dir = dir || string(key) == "dir"
		if err := l.member(key, val); err != nil {
			return err
		}
	}
	if err := m.Err(); err != nil {
		return fmt.Errorf("not a JSON object: %w", err)
	}
	return l.settle(dir)
}

func (l *Line) member(key, val []byte) error {
	switch string(key) {
	case "t":
		return l.setTime(val)
	case "dir":
		return l.setDir(val)
	case "conn":
		n, err := strconv.Atoi(string(val))
		if err != nil || n < 0 {
			return errors.New(`"conn" is not a connection number`)
		}
		l.Conn = n
		return nil
	case "msg":
		l.Msg = val
		return nil
	}
	return l.rareMember(string(key), val)
}

// rareMember parses the members that only few lines have.
func (l *Line) rareMember(key string, val []byte) error {
	switch key {
	case "text", "base64":
		return l.setBytes(key, val)
	case "open":
		l.Open = &Open{}
		return decode(key, val, l.Open)
	case "close":
		l.Close = &Close{}
		return decode(key, val, l.Close)
	case "http":
		l.HTTP = &HTTP{}
		return decode(key, val, l.HTTP)
	case "note":
		l.Kind = Note // if the line has nothing else
		return named(key, text(val, &l.Note))
	case "match":
		if string(val) == `""` {
			return errors.New(`"match" is empty`)
		}
		return named(key, text(val, &l.Match))
	case "name":
		return named(key, text(val, &l.Name))
	case "re":
		return named(key, text(val, &l.Re))
	case "vars":
		return decode(key, val, &l.Vars)
	case "optional":
		return decode(key, val, &l.Optional)
	case "binary":
		return decode(key, val, &l.Binary)
	case "bind":
		return l.setBind(val)
	case "tape":
		return errors.New("a second header: tapes cannot be joined")
	}
	return nil
}

// settle determines the kind of a line from its members; dir is set if it has a direction. If the members contradict each
// other, settle returns an error with the reason.
func (l *Line) settle(dir bool) error {
	switch {
	case l.Payload() != nil || l.Match != "":
		l.Kind = Message
		return l.checkMessage(dir)
	case l.Bind != nil || l.Vars || l.Name != "" || l.Re != "" || l.Optional || l.Binary:
		return errors.New(`"bind", "vars", "name", "re", "optional" and "binary" need a message`)
	case l.Open != nil:
		l.Kind = Opening
	case l.Close != nil:
		l.Kind = Closing
	case l.HTTP != nil:
		l.Kind = Exchange
	case l.Kind != Note:
		return errors.New(`it has none of "msg", "text", "base64", "match", "open", "close", "http" and "note"`)
	}
	return nil
}

// checkMessage returns an error if members of a message contradict each other.
func (l *Line) checkMessage(dir bool) error {
	switch {
	case l.Open != nil || l.Close != nil || l.HTTP != nil:
		return errors.New(`a line can have only one of "msg", "open", "close" and "http"`)
	case l.Msg != nil && l.Bytes != nil:
		return errors.New(`a line cannot have both "msg" and "text" or "base64"`)
	case !dir:
		return errors.New(`"dir" is missing: "send" or "recv"`)
	case l.Vars && l.Msg == nil:
		return errors.New(`"vars" needs a "msg"`)
	}
	return nil
}

// maxSeconds is the largest time on a line in seconds, which is a hundred years.
const maxSeconds = 100 * 365 * 24 * 3600

func (l *Line) setTime(val []byte) error {
	seconds, err := strconv.ParseFloat(string(val), 64)
	if err != nil || seconds < 0 || seconds > maxSeconds {
		return errors.New(`"t" is not a number of seconds since the start`)
	}
	l.Time = time.Duration(math.Round(seconds*1e6)) * time.Microsecond
	return nil
}

func (l *Line) setDir(val []byte) error {
	switch string(val) {
	case `"send"`:
		l.Dir = wire.Send
	case `"recv"`:
		l.Dir = wire.Recv
	default:
		return errors.New(`"dir" is neither "send" nor "recv"`)
	}
	return nil
}

func (l *Line) setBytes(key string, val []byte) error {
	s, ok := scan.Text(val)
	if !ok {
		return named(key, errNoText)
	}
	if key == "text" {
		l.Bytes = []byte(s)
		return nil
	}
	var err error
	if l.Bytes, err = base64.StdEncoding.AppendDecode([]byte{}, []byte(s)); err != nil {
		return errors.New(`"base64" is not valid base64`)
	}
	return nil
}

func (l *Line) setBind(val []byte) error {
	if scan.Type(val) != 'o' {
		return errors.New(`"bind" is not an object that maps names to jq programs`)
	}
	m := scan.ReadObject(val, depth)
	for key, program, ok := m.Next(); ok; key, program, ok = m.Next() {
		b := Binding{Name: scan.Key(key)}
		if !wire.IsName(b.Name) {
			return fmt.Errorf(`"bind": %q is not a name: use letters, digits and _`, b.Name)
		}
		if err := text(program, &b.Value); err != nil {
			return fmt.Errorf(`"bind": the program of %q %w`, b.Name, err)
		}
		l.Bind = append(l.Bind, b)
	}
	return nil
}

var errNoText = errors.New("is not a string")

// text stores the JSON string val in to. It does nothing if val is nil.
func text(val []byte, to *string) error {
	if val == nil {
		return nil
	}
	s, ok := scan.Text(val)
	if !ok {
		return errNoText
	}
	*to = s
	return nil
}

func named(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q %w", key, err)
}

// decode parses the value of a rare member. It ignores unknown members in that value.
func decode(key string, val []byte, to any) error {
	if err := json.Unmarshal(val, to); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return fmt.Errorf("%q: its %q has the wrong type", key, wrong.Field)
		}
		return fmt.Errorf("%q has the wrong type", key)
	}
	return nil
}
