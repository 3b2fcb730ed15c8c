package request

import (
	"fmt"

	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire/schema"
)

// typos are the parameters of a call that its schema allows but does not describe.
// One whose name is near to a described one is probably misspelt, which the user
// would not learn otherwise.
type typos struct {
	method string
	names  []schema.Undescribed
}

func (t *typos) set(method string, names []schema.Undescribed) { t.method, t.names = method, names }

// noteTypos warns of parameters that are probably misspelt, unless run.Typos
// receives them instead.
func noteTypos(run *env.Env, method string, names []schema.Undescribed) {
	if run.Typos != nil {
		run.Typos(method, names)
		return
	}
	for _, n := range names {
		if text := Misspelt(method, n); text != "" {
			run.Console.Warn(text)
		}
	}
}

// Misspelt returns the warning about a parameter that is not described; "" if no
// described name is near.
func Misspelt(method string, n schema.Undescribed) string {
	if n.Nearest == "" {
		return ""
	}
	return fmt.Sprintf("%s describes no parameter %q, which is sent all the same; did you mean %s?",
		format.CleanLine(method), n.Name, format.CleanLine(n.Nearest))
}
