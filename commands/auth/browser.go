package auth

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"rpcx/commands/env"
	"rpcx/wire"
)

// openers maps operating systems to their programs that open a page. Other systems use xdg-open.
var openers = map[string][]string{
	"darwin":  {"open"},
	"windows": {"rundll32", "url.dll,FileProtocolHandler"},
}

// open opens page, an https URL or a URL on this machine, with the first program of $BROWSER or the system's opener. No
// shell interprets the address. A failure is only a warning, because the user can open the page.
func open(run *env.Env, page string) {
	words, ok := openers[runtime.GOOS]
	if !ok {
		words = []string{"xdg-open"}
	}
	if first, _, _ := strings.Cut(os.Getenv("BROWSER"), ":"); first != "" {
		words = strings.Fields(first)
	}
	if i := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "%s") }); i >= 0 {
		words = slices.Clone(words)
		words[i] = strings.ReplaceAll(words[i], "%s", page)
	} else {
		words = append(slices.Clone(words), page)
	}
	cmd := exec.Command(words[0], words[1:]...)
	if err := cmd.Start(); err != nil {
		run.Console.Warn("cannot open a browser: " + err.Error())
		return
	}
	go func() {
		defer wire.Guard()
		if err := cmd.Wait(); err != nil {
			run.Console.Warn(words[0] + ": " + err.Error() + "; open the address in a browser yourself")
		}
	}()
}
