package commands

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// filesIn returns the paths of the files with the extension in directories of the repository, but not in hidden ones.
func filesIn(t *testing.T, ext string, dirs ...string) (files []string) {
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
				return fs.SkipDir
			case d.Type().IsRegular() && strings.HasSuffix(path, ext):
				files = append(files, filepath.ToSlash(path))
			}
			return nil
		})
		testkit.OK(t, err)
	}
	return files
}

// programFiles returns the files of the program, without tests, by their paths from its root.
func programFiles(t *testing.T) (files []string) {
	for _, path := range filesIn(t, ".go", "commands", "format", "wire") {
		if !strings.HasSuffix(path, "_test.go") {
			files = append(files, strings.TrimPrefix(path, "../"))
		}
	}
	return files
}

// runners are the files that may compile the user's jq programs, which only the command's timeout bounds. Other files mark programs
// as foreign and run them with jq.Bounded.
var runners = map[string]string{
	"format/options.go":                    "--jq, --select, --until and --expect",
	"commands/replay/view.go":              "--jq of replay",
	"wire/hook/hook.go":                    "jq: hooks, which end with --hook-timeout",
	"wire/serve/runtimejq.go":              "",
	"wire/validate/rules/program.go":       "rules of dialects, which rpcx brings along",
	"wire/validate/rules/rules.go":         "they are only compiled",
	"commands/suggest/words.go":            "words of the command line are only compiled",
	"wire/validate/probes/probes.go":       "probes of dialects, which rpcx brings along",
	"wire/dialect/page/program/program.go": "",
	"wire/tape/player/handwritten.go":      "",
}

// Outside of wire/jq, only the listed files compile jq programs.
func TestForeignPrograms(t *testing.T) {
	for _, file := range programFiles(t) {
		text := read(t, "../"+file)
		says, listed := runners[file]
		compiles := strings.Count(text, "jq.Compile(")
		switch {
		case strings.HasPrefix(file, "wire/jq/"):
		case compiles > 0 && !listed:
			t.Errorf("%s compiles jq programs: if they are from a peer or a file, run them with jq.Bounded", file)
		case compiles == 0 && listed:
			t.Errorf("%s no longer compiles jq programs", file)
		case listed && says == "" && compiles != strings.Count(text, "Foreign: true"):
			t.Errorf("%s compiles a program without Foreign: true", file)
		}
	}
}

// writers are the files that may name stderr. escapers are the files that may search for control characters.
var (
	writers = map[string]string{
		"commands/env/env.go":           "finds out whether it is a terminal",
		"commands/env/output/output.go": "the file that the console writes to",
		"commands/server/serve.go":      "COMMAND of serve has it",
		"format/screen.go":              "asks for a secret, which is typed on its line",
	}
	escapers = map[string]string{
		"format/safe.go":                        "the escapes",
		"format/pretty.go":                      "ASCII is copied as it is",
		"format/fault.go":                       "where a body that is not text begins",
		"format/keyboard/cells.go":              "marks take no column",
		"wire/dialect/page/codec/handshake.go":  "headers hold none",
		"wire/scan/decoder.go":                  "JSON",
		"wire/scan/token.go":                    "JSON",
		"format/keyboard/keys.go":               "reads keys",
		"wire/framing/header.go":                "which names headers can have",
		"wire/dialect/introspect/introspect.go": "which ids are valid",
		"wire/scan/text.go":                     "JSON",
		"wire/jq/source.go":                     "JSON as gojq prints it",
		"wire/jq/evaluate.go":                   "JSON as gojq prints it",
		"wire/transport/dialfault.go":           "the first line of a body is for messages",
		"wire/transport/ws/frames.go":           "the length of a frame",
		"wire/redact/beside.go":                 "where a value ends",
		"commands/options/auth.go":              "a token with them is refused",
		"wire/dialect/mcp/modern/headers.go":    "values with them are encoded",
		"wire/dialect/page/codec/http.go":       "values with them are encoded",
	}
)

// Only the listed files name stderr or search for control characters.
func TestOneWriterToStderr(t *testing.T) {
	testkit.RaceSkips(t)
	escape := regexp.MustCompile(`unicode\.(IsControl|Cc|Cf|Bidi_Control)|0x7f|< ' '|< 0x20|u202[a-e]`)
	for _, file := range programFiles(t) {
		text := read(t, "../"+file)
		if strings.Contains(text, "os.Stderr") && writers[file] == "" {
			t.Errorf("%s writes to stderr: the console does (run.Console)", file)
		}
		if line := escape.FindString(text); line != "" && escapers[file] == "" {
			t.Errorf("%s looks for control characters (%s): format.Clean makes them visible", file, line)
		}
	}
}

// Only wire/schema calls the schema library, and it counts the steps of each validation.
func TestOneSchemaLibrary(t *testing.T) {
	for _, file := range programFiles(t) {
		if text := read(t, "../"+file); strings.Contains(text, "santhosh-tekuri") && !strings.HasPrefix(file, "wire/schema/") {
			t.Errorf("%s calls the schema library", file)
		} else if strings.HasPrefix(file, "wire/schema/") && strings.Contains(strings.ReplaceAll(text, "f.Validate(string(", ""), ".Validate(") {
			t.Errorf("%s lets the library validate, whose steps are not counted", file)
		}
	}
}
