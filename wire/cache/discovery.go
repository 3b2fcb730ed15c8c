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

// Use determines how a command uses the discovery cache.
type Use int

const (
	Usual   Use = iota // read and write
	Refresh            // only write
	None               // neither read nor write
)

// Discovery returns the cache for what rpcx discovers about the peer of e, to which it connects with cfg. The functions
// that use does not allow are nil.
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

// DiscoveredCatalog returns the catalog of e that an earlier connection with cfg stored, or nil. It is the fallback
// when e is unreachable.
func DiscoveredCatalog(e endpoint.Endpoint, cfg transport.Config) *catalog.Catalog {
	file, discovery := discoveryFile(e, cfg), e.Spec().Discovery
	if file == "" || !discovery.IsCached() {
		return nil
	}
	c, _ := catalog.Received(discovery.Cached(Read(file)), nil)
	return c
}

// discoveryFile returns the file for an endpoint, or "" if the endpoint does not identify a peer. Its name is a hash,
// because the endpoint may contain secrets. The hash includes whether credentials are sent, because the peer may then
// show more methods. It does not include the credentials, because tokens change.
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
		shows = append(shows, "\x00certificate") // no header has this name
	}
	if cfg.Login != nil && cfg.Login.Identity(e.Address) != "" {
		shows = append(shows, "\x00login")
	}
	return filepath.Join(d, e.Dialect, digest(append(id, shows)...)[:32]+".json")
}
