package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/peer"
)

// A CacheUse says what becomes of what earlier conversations kept of a far
// side: what discovery found.
type CacheUse int

// The uses of what was kept.
const (
	CacheUsual   CacheUse = iota // it is read and written
	CacheRefresh                 // it is only written
	CacheNone                    // neither
)

// maxDiscoveryBytes is the greatest file that is read.
const maxDiscoveryBytes = 64 << 20

// attachCache tells a codec that keeps something where, and whom to tell of it.
func attachCache(codec dialect.Codec, e endpoint.Endpoint, o Options) {
	keeper, ok := codec.(dialect.DiscoveryCacher)
	if !ok {
		return
	}
	k := dialect.DiscoveryCache{Warn: o.Hook.Warn}
	if o.Note != nil {
		k.Note = func(text string) { o.Note(peer.Note{Kind: peer.NoteDetail, Text: text}) }
	}
	if file := discoveryFile(e, o); file != "" && o.Cache != CacheNone {
		k.Update = func(change func(json.RawMessage) json.RawMessage) { updateDiscovery(file, change) }
		if o.Cache == CacheUsual {
			k.Load = func() json.RawMessage { return readDiscovery(file) }
		}
	}
	keeper.CacheDiscovery(k)
}

// KeptCatalog is what e said of itself in an earlier conversation with options
// like these, for when it cannot be asked; nil where nothing is kept.
func KeptCatalog(e endpoint.Endpoint, o Options) *catalog.Catalog {
	file, read := discoveryFile(e, o), e.Spec().CachedCatalog
	if file == "" || read == nil {
		return nil
	}
	c, _ := catalog.Received(read(readDiscovery(file)), nil)
	return c
}

// discoveryFile is the file for one endpoint, in the user's cache folder; "" where
// there is none, and for what is no endpoint of its own. Its name is a hash: the
// endpoint may hold secrets. Who shows an identity may be told of more; which one
// it is does not count, since tokens are new each time.
func discoveryFile(e endpoint.Endpoint, o Options) string {
	dir, err := cacheDir()
	if err != nil {
		return ""
	}
	if e.Demo != "" || e.Socket != "" || e.Address.Scheme == "stdio" || e.Address.Scheme == "" {
		return ""
	}
	a := e.Address
	user := ""
	if a.User != nil {
		user = a.User.String()
	}
	parts := []string{e.Dialect, e.Framing, a.Scheme, user, a.Host, a.URLPath}
	if a.Path != "" {
		path, err := filepath.Abs(a.Path)
		if err != nil {
			return ""
		}
		parts = append(parts, path)
	}
	if a.Command != nil { // which program that is may depend on where we are
		here, err := os.Getwd()
		if err != nil {
			return ""
		}
		parts = append(append(parts, here), a.Command...)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Transport.Header)) {
		parts = append(parts, "header "+name)
	}
	if o.Transport.TLS.Cert != "" {
		parts = append(parts, "certificate")
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return filepath.Join(dir, e.Dialect, hex.EncodeToString(sum[:16])+".json")
}

func readDiscovery(file string) json.RawMessage {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxDiscoveryBytes+1))
	if err != nil || len(b) > maxDiscoveryBytes {
		return nil
	}
	return b
}

// updateDiscovery changes a file as a whole: whoever reads it at that time reads the
// old one or the new one. What cannot be kept is not.
func updateDiscovery(file string, change func(json.RawMessage) json.RawMessage) {
	b := change(readDiscovery(file))
	if b == nil {
		_ = os.Remove(file)
		return
	}
	dir := filepath.Dir(file)
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return
	}
	_, err = f.Write(b)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}
