package cache

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/transport"
)

// Use says what becomes of what discovery found in earlier conversations.
type Use int

// How the discovery cache is used.
const (
	Usual   Use = iota // it is read and written
	Refresh            // it is only written
	None               // neither
)

// Discovery returns the cache of what a codec finds out about the peer of e,
// dialled with cfg. Its functions are nil where nothing is to be read or kept.
func Discovery(e endpoint.Endpoint, cfg transport.Config, use Use) (d dialect.DiscoveryCache) {
	file := discoveryFile(e, cfg)
	if file == "" || use == None {
		return d
	}
	d.Update = func(change func(json.RawMessage) json.RawMessage) {
		Update(file, func(old []byte) []byte { return change(old) })
	}
	if use == Usual {
		d.Load = func() json.RawMessage { return Read(file) }
	}
	return d
}

// DiscoveredCatalog returns what e said of itself in an earlier conversation
// dialled with cfg, for when it cannot be asked now; nil where nothing is kept.
func DiscoveredCatalog(e endpoint.Endpoint, cfg transport.Config) *catalog.Catalog {
	file, read := discoveryFile(e, cfg), e.Spec().CachedCatalog
	if file == "" || read == nil {
		return nil
	}
	c, _ := catalog.Received(read(Read(file)), nil)
	return c
}

// discoveryFile returns the file for one endpoint; "" where there is none, and for
// what is no endpoint of its own. Its name is a hash: the endpoint may hold
// secrets. Who shows an identity may be told of more; which one it is does not
// count, since tokens are new each time.
func discoveryFile(e endpoint.Endpoint, cfg transport.Config) string {
	d, err := dir()
	if err != nil || e.Demo != "" || e.Tape != "" || e.Socket != "" || e.Address.Scheme == "stdio" || e.Address.Scheme == "" {
		return ""
	}
	id, err := identity(e)
	if err != nil {
		return ""
	}
	shows := slices.Sorted(maps.Keys(cfg.Header))
	if cfg.TLS.Cert != "" {
		shows = append(shows, "\x00certificate") // no header has that name
	}
	return filepath.Join(d, e.Dialect, digest(append(id, shows)...)[:32]+".json")
}
