package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
	"rpcx/wire/transport"
)

// cacheFlags say whether answers are kept from one process to the next.
type cacheFlags struct {
	keep string // "": not; shared, private
	no   bool
}

// cacheKinds are the values of --cache; alone it is the first.
var cacheKinds = []string{"shared", "private"}

func (c *cacheFlags) flags() []Flag {
	return []Flag{
		newOptionalEnum(groupRO, "cache", "keep answers as long as they allow (cache.max-age), and ask again only then; --cache=private also those to a request with an identity (headers, a token, a certificate)", &c.keep, cacheKinds),
	}
}

// An answerCache is where the answer to one call may be found, and is kept.
type answerCache struct {
	app *app
	key string
	no  bool
	e   session.Endpoint
}

// cache is where the answer to op may be; nil where none is kept.
func (c *cacheFlags) cache(ctx context.Context, a *app, e session.Endpoint, op dialect.Op, conn *connFlags) (*answerCache, error) {
	if c.keep == "" {
		return nil, nil
	}
	if op.Kind != dialect.Call {
		return nil, a.line.usage("--cache goes with one call that has a method and an answer")
	}
	spec := session.SpecOf(e)
	if spec.AnswerKey == nil {
		return nil, a.line.usage("--cache belongs to the dialect ro, and this is %s", e.Dialect)
	}
	asked, err := spec.AnswerKey(op)
	if err != nil {
		return nil, err
	}
	from, err := a.answers(ctx, e, conn)
	switch {
	case err != nil:
		return nil, err
	case from.Of == "":
		return nil, a.line.usage("--cache: %s does not say which peer answers", e)
	case from.Private && c.keep != "private":
		a.verbose("cache: not used: the request carries an identity (--cache=private does)")
		return nil, nil
	}
	return &answerCache{app: a, key: from.At(asked), no: c.no, e: e}, nil
}

// verbose tells who asked for it.
func (a *app) verbose(text string) {
	if a.common.verbose {
		a.console.Note(text)
	}
}

// answers says whose answers come of e: a session knows that itself.
func (a *app) answers(ctx context.Context, e session.Endpoint, conn *connFlags) (session.Answers, error) {
	if e.Socket != "" {
		return e.Answers(), nil
	}
	cfg, err := a.transportConfig(ctx, conn)
	return answersOf(e, cfg), err
}

// answersOf are the answers of e by a connection of that kind: asked by whoever
// its headers, its certificate and the endpoint name, and verified as it says.
func answersOf(e session.Endpoint, cfg transport.Config) session.Answers {
	var who []string
	for name, vals := range cfg.Header {
		for _, v := range vals {
			who = append(who, name+": "+v)
		}
	}
	if cfg.TLS.Cert != "" {
		who = append(who, "cert "+fullPath(cfg.TLS.Cert))
	}
	if e.Address.User != nil {
		who = append(who, "user "+e.Address.User.String())
	}
	slices.Sort(who)
	identity := ""
	if who != nil {
		identity = fmt.Sprintf("%q", who)
	}
	return session.AnswersOf(e, identity, fmt.Sprintf("%t %q", cfg.TLS.Insecure, fullPath(cfg.TLS.CACert)))
}

// fullPath names a file whatever folder we are in; "" stays so.
func fullPath(file string) string {
	if full, err := filepath.Abs(file); err == nil && file != "" {
		return full
	}
	return file
}

// find prints the answer that is kept; false where there is none.
func (c *answerCache) find(ctx context.Context, print *format.Pipeline) (bool, error) {
	if c == nil || c.no {
		return false, nil
	}
	got := session.CacheGet(c.key)
	if got == nil {
		c.app.verbose("cache: miss")
		return false, nil
	}
	c.app.verbose(fmt.Sprintf("cache: hit, %s old, of %s", got.Age().Round(time.Second), got.MaxAge))
	m := got.Message()
	ev, err := session.SpecOf(c.e).NewCodec(dialect.CodecOptions{}).Event(m)
	if err == nil {
		_, err = print.Print(ctx, m, ev)
	}
	return true, err
}

// put keeps an answer that allows it.
func (c *answerCache) put(m wire.Message) {
	if c == nil || m.Kind != wire.Response || !m.Final || m.Err != nil {
		return
	}
	age := session.SpecOf(c.e).AnswerMaxAge(m.Raw)
	if age == 0 {
		c.app.verbose("cache: the answer says no max-age")
		return
	}
	if err := session.CachePut(c.key, session.Cached{Raw: m.Raw, At: time.Now(), MaxAge: age}); err != nil {
		c.app.console.Warn("the answer could not be kept: " + err.Error())
		return
	}
	c.app.verbose(fmt.Sprintf("cache: kept for %s", age))
}
