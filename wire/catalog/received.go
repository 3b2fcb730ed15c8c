package catalog

// Received makes a catalog from a peer safe to use. It removes commands, and ensures that the catalog can be read again
// after writing. It accepts and returns the results of its caller.
func Received(c *Catalog, err error) (*Catalog, error) {
	if err != nil {
		return nil, err
	}
	Normalize(c)
	StripRun(c)
	return c, nil
}
