package request

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/transport"
)

// CacheFlags contains the flags that cache responses for later processes, in dialects whose peers can allow that.
type CacheFlags struct {
	keep  string // shared, private, or "" without a cache
	Fresh bool   // ignore the cached response and update it
}

func (c *CacheFlags) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.OptionalEnum(cmdline.GroupRO, "cache", "cache each result for as long as its cache.max-age allows (--cache=private: also results of calls with an identity: headers, a token, a certificate)", &c.keep, []string{"shared", "private"}),
	}
}

// An AnswerCache reads and stores the response to one call.
type AnswerCache struct {
	env *env.Env
	key string
	no  bool
	e   endpoint.Endpoint
}

// For returns the cache for the response to op, or nil if rpcx does not cache the response.
func (c *CacheFlags) For(ctx context.Context, run *env.Env, e endpoint.Endpoint, op dialect.Op, conn *options.Connection) (*AnswerCache, error) {
	if c.keep == "" {
		return nil, nil
	}
	if op.Kind != dialect.Call {
		return nil, run.Line.Usage("--cache needs a single call with a response")
	}
	spec := e.Spec()
	if spec.AnswerCache == nil {
		return nil, run.Line.Usage("--cache needs the %s dialect, not %s", all.NamesOf(func(s dialect.Spec) bool { return s.AnswerCache != nil }), e.Dialect)
	}
	asked, err := spec.AnswerCache.Key(op)
	if err != nil {
		return nil, err
	}
	var from cache.Source
	if e.Socket != "" {
		from = run.Reached.Answers() // the session's process has it
	} else {
		cfg, err := options.TransportConfig(ctx, run, conn)
		if err != nil {
			return nil, err
		}
		from = AnswersOf(e, cfg)
	}
	switch {
	case from.Of == "":
		return nil, run.Line.Usage("--cache: %s does not identify the peer", e)
	case from.Private && c.keep != "private":
		run.Verbose("cache: bypassed, because the request has credentials (--cache=private caches it)")
		return nil, nil
	}
	return &AnswerCache{env: run, key: from.Key(asked), no: c.Fresh, e: e}, nil
}

// AnswersOf returns the source that identifies, in the cache, the responses on a connection to e with cfg. It includes the
// identity that the peer sees (headers, certificate, user), and the TLS flags, which determine how far rpcx trusts the peer.
func AnswersOf(e endpoint.Endpoint, cfg transport.Config) cache.Source {
	var who []string
	for name, vals := range cfg.Header {
		who = append(who, wire.Map(vals, func(v string) string { return name + ": " + v })...)
	}
	if cfg.TLS.Cert != "" {
		who = append(who, "cert "+fullPath(cfg.TLS.Cert))
	}
	if e.Address.User != nil {
		who = append(who, "user "+e.Address.User.String())
	}
	if cfg.Login != nil && cfg.Login.Identity(e.Address) != "" {
		who = append(who, "login "+cfg.Login.Identity(e.Address))
	}
	slices.Sort(who)
	identity := ""
	if who != nil {
		identity = fmt.Sprintf("%q", who)
	}
	return cache.SourceOf(e, identity, fmt.Sprintf("%t %q", cfg.TLS.Insecure, fullPath(cfg.TLS.CACert)))
}

// fullPath returns the absolute path of a file, or "" for "".
func fullPath(file string) string {
	if full, err := filepath.Abs(file); err == nil && file != "" {
		return full
	}
	return file
}

// Find prints the stored response. It returns false if there is none.
func (c *AnswerCache) Find(ctx context.Context, print *format.Pipeline) (bool, error) {
	if c == nil || c.no {
		return false, nil
	}
	got := cache.Get(c.key)
	if got == nil {
		c.env.Verbose("cache: miss")
		return false, nil
	}
	c.env.Verbose(fmt.Sprintf("cache: hit, %s old (max-age %s)", got.Age().Round(time.Second), got.MaxAge))
	m := got.Message()
	ev, err := dialect.EventOf(c.e.Spec().NewCodec(dialect.CodecOptions{}), m)
	if err == nil {
		_, err = print.Print(ctx, &m, &ev)
	}
	return true, err
}

// Put stores a response if the response permits that.
func (c *AnswerCache) Put(m wire.Message) {
	if c == nil || m.Kind != wire.Response || !m.Final || m.Err != nil {
		return
	}
	age := c.e.Spec().AnswerCache.MaxAge(m.Raw)
	if age == 0 {
		c.env.Verbose("cache: not stored, because the response has no max-age")
		return
	}
	if err := cache.Put(c.key, cache.Answer{Raw: m.Raw, At: time.Now(), MaxAge: age}); err != nil {
		c.env.Console.Warn("cannot store the response in the cache: " + err.Error())
		return
	}
	c.env.Verbose(fmt.Sprintf("cache: stored for %s", age))
}
