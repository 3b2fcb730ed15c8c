package all_test

import (
	"fmt"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// alone runs a step of a codec without a connection.
func (s *spoken) alone(verb, rest string) error {
	if s.mine == nil {
		s.mine = s.spec.NewCodec(s.codec)
	}
	var got []string
	switch verb {
	case "decode":
		msgs, batch, err := s.mine.Decode([]byte(rest))
		for _, m := range msgs {
			got = append(got, described(s.mine, m))
		}
		if batch {
			got = append(got, "a batch")
		}
		if err != nil {
			got = append(got, text(err))
		}
	case "encode":
		op, err := spelt(rest)
		if err != nil {
			return err
		}
		m, err := s.mine.Encode(op)
		if err != nil {
			got = append(got, text(err))
		} else {
			got = append(got, described(nil, m))
			if m.Raw != nil {
				got = append(got, string(m.Raw))
			}
		}
	case "reply":
		raw, shown, _ := strings.Cut(rest, " {\"event\":")
		ev, err := speltEvent("{\"event\":" + shown)
		if err != nil {
			return err
		}
		msgs, _, err := s.mine.Decode([]byte(raw))
		if err != nil || len(msgs) == 0 {
			return fmt.Errorf("%d messages, %v", len(msgs), err)
		}
		replies, err := s.mine.Reply(msgs[0].Clone(), ev)
		for _, r := range replies {
			got = append(got, string(r))
		}
		if err != nil {
			got = append(got, text(err))
		}
	}
	return s.wants(got)
}

// wants compares got with the lines ": TEXT" that follow, or with -update replaces them.
func (s *spoken) wants(got []string) error {
	end := s.at
	for end < len(s.lines) && strings.HasPrefix(s.lines[end], ":") {
		end++
	}
	want := s.lines[s.at:end]
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		same = like(": "+got[i], want[i])
	}
	if same {
		s.at = end
		return nil
	}
	if *update {
		var lines []string
		for _, g := range got {
			lines = append(lines, ": "+g)
		}
		s.lines = append(append(append([]string{}, s.lines[:s.at]...), lines...), s.lines[end:]...)
		s.at += len(got)
		return nil
	}
	s.at = end
	return fmt.Errorf("got\n: %s\nwant\n%s", strings.Join(got, "\n: "), strings.Join(want, "\n"))
}

// described returns all non-empty members of a message and its events.
func described(c dialect.Codec, m wire.Message) string {
	words := []string{m.Kind.String()}
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+"="+value)
		}
	}
	add("id", string(m.ID))
	add("stream", string(m.Stream))
	add("target", string(m.Target))
	for _, flag := range []struct {
		name string
		is   bool
	}{{"final", m.Final}, {"beside", m.Beside}, {"bare", m.Bare}} {
		if flag.is {
			words = append(words, flag.name)
		}
	}
	add("method", m.Method)
	add("params", string(m.Params))
	add("body", string(m.Body))
	if m.Err != nil {
		add("err", string(scan.JSON(m.Err)))
	}
	if c != nil {
		add("shown", event(c, m))
	}
	return strings.Join(words, " ")
}
