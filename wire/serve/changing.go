package serve

import (
	"sync/atomic"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// A Changing is a backend whose catalog can be replaced.
type Changing struct {
	o   Options
	now atomic.Pointer[backend]
}

// NewChanging returns New(o) as a Changing.
func NewChanging(o Options) *Changing {
	c := &Changing{o: o}
	c.Update(o.Catalog)
	return c
}

// Update replaces the catalog, for the connections that are bound from now on.
func (c *Changing) Update(to *catalog.Catalog) {
	o := c.o
	o.Catalog = to
	c.now.Store(New(o).(*backend))
}

// Catalog is that of dialect.Backend.
func (c *Changing) Catalog() *catalog.Catalog { return c.now.Load().Catalog() }

// Bind is that of dialect.Backend.
func (c *Changing) Bind(caller dialect.Caller) dialect.Responder { return c.now.Load().Bind(caller) }

// Host is that of dialect.Backend.
func (c *Changing) Host() dialect.Host { return c.now.Load().Host() }
