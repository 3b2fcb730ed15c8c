package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"rpcx/commands"
	"rpcx/wire"
)

// session has what the picture of a terminal shows: commands, whose output is added. pretty formats values as on a terminal.
var session = []struct {
	words  []string
	pretty bool
	status int
}{
	{[]string{"call", "demo:orders", "getOrder", "id=o_002", "-q", "{customer, total}"}, true, 0},
	{[]string{"subscribe", "demo:orders", "watchOrders", "interval:=0.1", "--count", "3"}, false, 0},
	{[]string{"call", "demo:orders", "approveOrder", "id=o_002", "--on", "approve=jq:.total < 2000"}, true, 0},
	{[]string{"call", "demo:orders", "getOder", "id=o_002"}, false, 1},
}

const (
	pictureColumns = 84
	windowWidth    = 744 // wide enough for any monospaced font of 14 px
	lineHeight     = 20
	pictureMargin  = 18
	titleBar       = 34
)

// picture runs the session and returns an SVG of a terminal with its output. The colours follow the reader's light or dark mode,
// and the characters are text.
func picture() ([]byte, error) {
	restore, err := quietPlace()
	if err != nil {
		return nil, err
	}
	defer restore()
	var lines []string
	for _, s := range session {
		line := "rpcx"
		for _, w := range s.words {
			line += " " + wire.Quote(w)
		}
		lines = append(lines, wrapped("\x1b[35m$\x1b[0m "+line)...)
		words := s.words
		if s.pretty {
			words = append(slices.Clone(words), "--pretty")
		}
		out, status, err := printed(words)
		if err != nil || status != s.status {
			return nil, errors.Join(err, fmt.Errorf("%s ended with status %d: %s", line, status, out))
		}
		for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
			lines = append(lines, wrapped(l)...)
		}
	}
	return drawn(lines), nil
}

// quietPlace makes the session independent of the machine's settings.
func quietPlace() (restore func(), err error) {
	dir, err := os.MkdirTemp("", "rpcx-gen-")
	if err != nil {
		return nil, err
	}
	before := os.Environ()
	os.Clearenv()
	for _, name := range []string{"HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		os.Setenv(name, dir)
	}
	os.Setenv("CLICOLOR_FORCE", "1")
	os.Setenv("RPCX_HISTORY", "off")
	return func() {
		os.RemoveAll(dir)
		os.Clearenv()
		for _, v := range before {
			name, value, _ := strings.Cut(v, "=")
			os.Setenv(name, value)
		}
	}, nil
}

// printed runs rpcx in this process and returns its output and exit status.
func printed(words []string) (out string, status int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", 0, err
	}
	defer r.Close()
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = w, w
	got := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(r)
		got <- b
	}()
	o := commands.Main(append([]string{"rpcx"}, words...))
	os.Stdout, os.Stderr = stdout, stderr
	w.Close()
	return string(<-got), o.Status, nil
}

// escape matches an escape sequence that sets the colour of the following text.
var escape = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// wrapped splits a line at the width of the terminal, and repeats the current colour on the next row.
func wrapped(line string) []string {
	var rows []string
	var row strings.Builder
	column, color := 0, ""
	for line != "" {
		if at := escape.FindStringIndex(line); at != nil && at[0] == 0 {
			color = line[:at[1]]
			row.WriteString(color)
			line = line[at[1]:]
			continue
		}
		r, size := utf8.DecodeRuneInString(line)
		if column == pictureColumns {
			rows = append(rows, row.String())
			row.Reset()
			row.WriteString(color)
			column = 0
		}
		row.WriteRune(r)
		column++
		line = line[size:]
	}
	return append(rows, row.String())
}

// classes maps the numbers of terminal colours to CSS classes in the picture.
var classes = map[string]string{
	"31": "bad", "1;31": "bad", "0;32": "text", "34;1": "key", "35": "prompt", "1": "strong",
}

// drawn returns the SVG of the rows of a terminal.
func drawn(rows []string) []byte {
	const width = windowWidth
	height := titleBar + pictureMargin + lineHeight*len(rows)
	var b bytes.Buffer
	fmt.Fprintf(&b, pictureHead, width, height, width-1, height-1)
	for i, row := range rows {
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", pictureMargin, titleBar+lineHeight*i+lineHeight/2+4, spans(row))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// spans returns the text of a row, with a span for each coloured part.
func spans(row string) string {
	var b strings.Builder
	class := ""
	for row != "" {
		text, rest := row, ""
		next := class
		if at := escape.FindStringSubmatchIndex(row); at != nil {
			text, rest, next = row[:at[0]], row[at[1]:], classes[row[at[2]:at[3]]]
		}
		if text != "" {
			var safe bytes.Buffer
			_ = xml.EscapeText(&safe, []byte(text)) // a Buffer returns no error
			if class == "" {
				b.Write(safe.Bytes())
			} else {
				fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, class, safe.Bytes())
			}
		}
		row, class = rest, next
	}
	return b.String()
}

// pictureHead is the beginning of the picture: the style, and the window with its buttons.
const pictureHead = `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" width="%d" height="%d" role="img">
<title>A terminal session: a call, a stream, a server that calls back, and a mistake with its fix</title>
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; white-space: pre; fill: #1f2328 }
.window { fill: #f6f8fa; stroke: #d0d7de }
.button { fill: #d0d7de }
.prompt { fill: #8250df } .key { fill: #0550ae } .text { fill: #116329 } .bad { fill: #cf222e } .strong { font-weight: bold }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.window { fill: #161b22; stroke: #30363d }
.button { fill: #484f58 }
.prompt { fill: #d2a8ff } .key { fill: #79c0ff } .text { fill: #7ee787 } .bad { fill: #ff7b72 }
}
</style>
<rect class="window" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>
<circle class="button" cx="20" cy="17" r="5"/><circle class="button" cx="38" cy="17" r="5"/><circle class="button" cx="56" cy="17" r="5"/>
`
