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
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// programTime bounds each run of a program on a tape.
const programTime = time.Second

// check compiles the handwritten programs of the tape. It returns an error if rpcx cannot play side: a name is not bound by an earlier
// line, a line to send has no message, or a redacted member has no value.
func check(t *transcript.Transcript, side wire.Direction, set map[string]json.RawMessage) error {
	for _, track := range t.Tracks {
		known := maps.Clone(set)
		if known == nil {
			known = map[string]json.RawMessage{}
		}
		came := map[string]bool{} // placeholders in earlier lines of the other side
		for i := range track.Len() {
			e := track.Entry(int32(i))
			var err error
			if line := track.HandwrittenLine(i); line != nil {
				err = checkLine(line, e.Dir == side, known)
			}
			if err == nil && e.Redacted && side == wire.Send {
				err = checkRedacted(track, i, set, came)
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

// checkRedacted returns an error if rpcx cannot send entry i: it contains a secret that is neither in set nor in an earlier line of the
// server. For a line of the server, it adds the secrets to came.
func checkRedacted(track *transcript.Track, i int, set map[string]json.RawMessage, came map[string]bool) error {
	msg, err := track.Message(i)
	if err != nil {
		return err
	}
	if track.Entry(int32(i)).Dir == wire.Recv {
		match.Edit(nil, msg, func(_ []string, part []byte) []byte {
			if tape.IsRedacted(part) && len(part) > len(tape.Redacted)+2 {
				came[string(part)] = true
			}
			return nil
		})
		return nil
	}
	_, missing := fill(msg, set, came)
	if missing != "" {
		return fmt.Errorf("the value of %q is redacted; give it with --fill %s=VALUE", missing, missing)
	}
	return nil
}

// fill returns val with the value from set, by member name, in place of each placeholder. missing is the first name that set does not
// have. came contains the placeholders of earlier lines, whose values are known when val is sent.
func fill(val []byte, set map[string]json.RawMessage, came map[string]bool) (out []byte, missing string) {
	out = match.Edit(nil, val, func(path []string, part []byte) []byte {
		if !tape.IsRedacted(part) {
			return nil
		}
		name := memberOf(path)
		v, ok := set[name]
		if !ok && missing == "" && !came[string(part)] {
			missing = name
		}
		return v
	})
	return out, missing
}

// memberOf returns the name of the member that path leads to, or whose array path leads into.
func memberOf(path []string) string {
	for _, step := range slices.Backward(path) {
		if _, err := strconv.Atoi(step); err != nil {
			return step
		}
	}
	return ""
}

// truth reports whether program is true for msg. Its error is why the program could not run.
func (p *play) truth(program string, msg []byte) (bool, error) {
	prog, err := jq.Compile(program, jq.Options{Vars: p.vars, Foreign: true})
	if err != nil {
		return false, err // only an unbound name can cause it: check has found all other errors
	}
	return jq.Bounded(p.ctx, prog, programTime, msg, prog.Truth)
}

// bind stores the values that line names in msg.
func (p *play) bind(line *tape.Line, msg []byte) {
	for _, b := range line.Bind {
		p.vars[b.Name], _ = p.value(b, msg, p.vars)
	}
}

// value returns the value that b names in msg, or null.
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

// unbound returns a difference for each value that line names and msg lacks.
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

// taken returns the pointers to the values that line names by a simple path, such as .result.items[0].at.
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

// substitute returns val with values in place of "${name}" in its strings. A string that consists of one variable becomes the
// variable's value. In a longer string, the value's text replaces the variable.
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
