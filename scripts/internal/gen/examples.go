package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"rpcx/commands/help"
)

// background matches the end of a command that a script runs in the background.
var background = regexp.MustCompile(` &(\w+&)?$`)

// example is a shell session that a test runs and the documentation shows.
//
// In a script in commands/testdata/script, an example starts with a comment "# doc: TITLE" and ends at the next blank line. Lines with
// "exec", "status N" and "wait" are shown as a user would type them, after the text for their stdin. "cmp stdout FILE" and "cmp stderr
// FILE" show that file in the script as the output. "cp stdout FILE" shows that the output is written to a file. All other lines are
// only part of the test. "exec sh -c 'LINE'" is shown as LINE.
type example struct {
	title string
	text  string
	topic string // the NAME of a script NAME-readme.txtar, or ""
}

// readExamples reads all examples in a directory of scripts, in the order of the file names.
func readExamples(dir string) ([]example, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	var all []example
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		script, held := parseArchive(string(b))
		found, err := examplesIn(script, held)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		topic, _ := strings.CutSuffix(filepath.Base(name), "-readme.txtar")
		for i := range found {
			if help.TopicNamed(topic) != nil {
				found[i].topic = topic
			}
		}
		all = append(all, found...)
	}
	return all, nil
}

// parseArchive parses a txtar file.
func parseArchive(text string) (script string, held map[string]string) {
	held = map[string]string{}
	at := ""
	var b strings.Builder
	keep := func() {
		if at == "" {
			script = b.String()
		} else {
			held[at] = b.String()
		}
		b.Reset()
	}
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(trimmed, "-- "); ok && strings.HasSuffix(name, " --") {
			keep()
			at = strings.TrimSpace(strings.TrimSuffix(name, " --"))
			continue
		}
		b.WriteString(line)
	}
	keep()
	return script, held
}

func examplesIn(script string, held map[string]string) ([]example, error) {
	var all []example
	var now *example
	stdin := ""
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "# doc:"); ok {
			all = append(all, example{title: strings.TrimSpace(title)})
			now = &all[len(all)-1]
			continue
		}
		if line == "" || now == nil {
			now, stdin = nil, ""
			continue
		}
		if err := now.step(line, held, &stdin); err != nil {
			return nil, err
		}
	}
	for _, e := range all {
		if e.text == "" {
			return nil, fmt.Errorf("the example %q shows nothing", e.title)
		}
	}
	return all, nil
}

// step adds what the documentation shows for a line of the script. The file stdin is the input of the next command.
func (e *example) step(line string, held map[string]string, stdin *string) error {
	verb, rest, _ := strings.Cut(strings.TrimPrefix(line, "! "), " ")
	switch verb {
	case "stdin":
		text, ok := held[rest]
		if !ok {
			return fmt.Errorf("the example %q reads %s, which the script does not hold", e.title, rest)
		}
		e.add("$ cat " + rest + "\n" + text)
		*stdin = " <" + rest
	case "status":
		_, rest, _ = strings.Cut(rest, " ")
		fallthrough
	case "exec":
		rest = pipeline(rest)
		e.add("$ " + background.ReplaceAllString(rest, " &") + *stdin)
		*stdin = ""
	case "wait":
		e.add("$ wait")
	case "cmp":
		from, file, _ := strings.Cut(rest, " ")
		text, ok := held[strings.TrimSpace(file)]
		if !ok {
			return fmt.Errorf("the example %q shows %s, which the script does not hold", e.title, file)
		}
		if from == "stdout" || from == "stderr" {
			e.add(text)
		}
	case "cp":
		if file, ok := strings.CutPrefix(rest, "stdout "); ok {
			e.text += " >" + file
		}
	}
	return nil
}

// pipeline returns LINE for a command sh -c 'LINE', and other commands unchanged.
func pipeline(command string) string {
	line, ok := strings.CutPrefix(command, "sh -c '")
	if line, ends := strings.CutSuffix(line, "'"); ok && ends {
		return strings.ReplaceAll(line, "''", "'")
	}
	return command
}

func (e *example) add(text string) {
	if e.text != "" {
		e.text += "\n"
	}
	e.text += strings.TrimRight(text, " \n")
}
