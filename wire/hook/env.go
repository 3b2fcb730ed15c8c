package hook

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rpcx/wire/dialect"
)

const maxVar = 4 << 10 // the maximum size of a variable in bytes; longer values are not set

// inherited returns the environment of this process. If this process is itself a hook, it omits the RPCX_ variables
// that describe the message of that hook. RPCX_ERRORS remains, because the user has chosen it.
func inherited() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "RPCX_") && !strings.HasPrefix(v, "RPCX_ERRORS=")
	})
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^RPCX_[A-Z][A-Z0-9_]*$`) })

// environ returns the environment for the hook with that id. r is nil for a co-process.
func (b *ConnectionHooks) environ(id string, r *dialect.Request) []string {
	env := slices.Clone(b.t.env)
	set := func(name, value string) {
		if value != "" && len(value) <= maxVar && !strings.ContainsRune(value, 0) {
			env = append(env, name+"="+value)
		}
	}
	set("RPCX_DIALECT", b.t.o.Dialect)
	set("RPCX_SESSION", b.t.o.Session)
	set("RPCX_ENDPOINT", b.endpoint(id))
	if r == nil {
		return env
	}
	set("RPCX_METHOD", r.Method)
	set("RPCX_ID", string(r.ID))
	for name, value := range r.Vars {
		if !strings.HasPrefix(name, "RPCX_") {
			name = "RPCX_" + name
		}
		if variable().MatchString(name) {
			set(name, value)
		}
	}
	return env
}

// endpoint returns the endpoint at which the hook with that id can call the peer.
func (b *ConnectionHooks) endpoint(id string) string {
	if b.binding.Endpoint == nil {
		return ""
	}
	e, err := b.binding.Endpoint()
	if err == nil {
		return e + "#" + id
	}
	b.noEndpoint.Do(func() { b.t.o.Warn("hooks cannot call the peer: " + err.Error()) })
	return ""
}
