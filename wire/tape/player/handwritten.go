package player

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// programTime is how long each run of a program on a tape may take.
const programTime = time.Second

// check compiles the handwritten programs on the tape. It returns an error if rpcx cannot play side because a name is not bound by an
// earlier line, a line that must be sent has no message, or a redacted member has no value.
func check(t *transcript.Transcript, side wire.Direction, set map[string]json.RawMessage) error {
	for _, track := range t.Tracks {
		known := map[string]json.RawMessage{}
		maps.Copy(known, set)
		earlier := map[string]bool{} // the placeholders on earlier lines of the other side
		for i := range track.Len() {
			e := track.Entry(int32(i))
			var err error
			if line := track.HandwrittenLine(i); line != nil {
				err = checkLine(line, e.Dir == side, known)
			}
			if err == nil && e.Redacted && side == wire.Send {
				err = checkRedacted(track, i, set, earlier)
			}
			if err != nil {
				return tape.Fault(t.Name, int(e.Line), err)
			}
		}
	}
	return nil
}

func checkLine(line *tape.Line, ours bool, known map[string]json.RawMessage) error {
	if ours && line.Payload() == nil {
		return errors.New(`a line without "msg" cannot be sent`)
	}
	if line.Match != "" {
		if _, err := jq.Compile(line.Match, jq.Options{Vars: known, Foreign: true}); err != nil {
			return fmt.Errorf(`"match": %w`, err)
		}
	}
	if line.Vars {
		for _, m := range variable().FindAllSubmatch(line.Msg, -1) {
			if _, ok := known[string(m[1])]; !ok {
				return fmt.Errorf("%s has no value: no earlier line binds it, and no --fill sets it", m[0])
			}
		}
	}
	for _, b := range line.Bind {
		if _, err := jq.Compile(b.Value, jq.Options{Vars: known, Foreign: true}); err != nil {
			return fmt.Errorf(`"bind": %q: %w`, b.Name, err)
		}
	}
	for _, b := range line.Bind {
		known[b.Name] = json.RawMessage("null")
	}
	return nil
}

// checkRedacted returns an error if rpcx cannot send entry i because it contains a secret that is neither in set nor on an earlier line
// of the server. If entry i is from the server, its secrets are added to earlier.
func checkRedacted(track *transcript.Track, i int, set map[string]json.RawMessage, earlier map[string]bool) error {
	msg, err := track.Message(i)
	if err != nil {
		return err
	}
	if track.Entry(int32(i)).Dir == wire.Recv {
		match.Edit(nil, msg, func(_ []string, part []byte) []byte {
			if number, _ := redact.IsMarked(part); number > 0 {
				earlier[string(part)] = true
			}
			return nil
		})
		return nil
	}
	_, missing := fill(msg, set, earlier)
	if missing != "" {
		return fmt.Errorf("the value of %q is redacted; give it with --fill %s=VALUE", missing, missing)
	}
	return nil
}

// fill returns val with each placeholder replaced by the value in set for the name of its member. missing is the first name that has
// no value in set. earlier contains the placeholders on earlier lines, whose values are known by the time val is sent.
func fill(val []byte, set map[string]json.RawMessage, earlier map[string]bool) (out []byte, missing string) {
	out = match.Edit(nil, val, func(path []string, part []byte) []byte {
		if _, is := redact.IsMarked(part); !is {
			return nil
		}
		name := memberOf(path)
		v, ok := set[name]
		if !ok && missing == "" && !earlier[string(part)] {
			missing = name
		}
		return v
	})
	return out, missing
}

// memberOf returns the name of the member that path leads to. If path leads to an array element, that is the member
// which contains the array.
func memberOf(path []string) string {
	for _, step := range slices.Backward(path) {
		if _, err := strconv.Atoi(step); err != nil {
			return step
		}
	}
	return ""
}

// truth reports whether program is true for msg. The error is set if the program could not run.
func (p *play) truth(program string, msg []byte) (bool, error) {
	prog, err := jq.Compile(program, jq.Options{Vars: p.vars, Foreign: true})
	if err != nil {
		return false, err // an unbound name is the only error that check cannot find
	}
	return jq.Bounded(p.ctx, prog, programTime, msg, prog.Truth)
}

// bind stores the values in msg to which line gives names.
func (p *play) bind(line *tape.Line, msg []byte) {
	for _, b := range line.Bind {
		p.vars[b.Name], _ = p.value(b, msg, p.vars)
	}
}

// value returns the value in msg to which b gives a name, or null.
func (p *play) value(b tape.Binding, msg []byte, vars map[string]json.RawMessage) (json.RawMessage, error) {
	null := json.RawMessage("null")
	prog, err := jq.Compile(b.Value, jq.Options{Vars: vars, Foreign: true})
	if err != nil {
		return null, err
	}
	val, err := jq.Bounded(p.ctx, prog, programTime, msg, prog.First)
	if err != nil || val == nil {
		return null, err
	}
	return bytes.Clone(val), nil
}

// unbound returns a difference for each value that line expects in msg but that is missing.
func (p *play) unbound(line *tape.Line, msg []byte) (found []match.Difference) {
	if len(line.Bind) == 0 {
		return nil
	}
	vars := maps.Clone(p.vars)
	for _, b := range line.Bind {
		val, err := p.value(b, msg, vars)
		vars[b.Name] = val
		if err == nil && string(val) != "null" {
			continue
		}
		text := fmt.Sprintf("%q is bound to null: %s", b.Name, b.Value)
		if err != nil {
			text = unmet(b.Value, err)
		}
		found = append(found, match.Difference{Got: jsonOf(msg), Text: text})
	}
	return found
}

// taken returns the pointers to those named values of line whose program is a simple path, such as .result.items[0].at.
func taken(line *tape.Line) (pointers []string) {
	for _, b := range line.Bind {
		if pointer, ok := match.PointerOf(b.Value); ok {
			pointers = append(pointers, pointer)
		}
	}
	return pointers
}

// variable matches "${name}".
var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`) })

// substitute returns val with each "${name}" in its strings replaced by the value of that variable. A string that consists
// only of one variable becomes the value itself. Inside a longer string, the variable is replaced by the value as text.
func substitute(val []byte, vars map[string]json.RawMessage) []byte {
	return match.Edit(nil, val, func(_ []string, part []byte) []byte {
		text, ok := scan.Text(part)
		if !ok {
			return nil
		}
		if m := variable().FindStringSubmatch(text); m != nil && m[0] == text {
			if v, ok := vars[m[1]]; ok {
				return v
			}
		}
		return scan.AppendQuoted(nil, variable().ReplaceAllStringFunc(text, func(ref string) string {
			v, ok := vars[ref[2:len(ref)-1]]
			if !ok {
				return ref
			}
			if s, isText := scan.Text(v); isText {
				return s
			}
			return string(v)
		}))
	})
}
