package catalog

// Received makes a catalog from a peer safe to use: it removes its commands, and makes sure that it can be read again when
// written. It takes and returns the results of its caller.
func Received(c *Catalog, err error) (*Catalog, error) {
	if err != nil {
		return nil, err
	}
	Normalize(c)
	StripRun(c)
	return c, nil
}
