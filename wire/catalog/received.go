package catalog

// Received makes a catalog that came over a connection safe to go on with: none
// of its commands are kept, and what it is written into can be read again. It
// takes and returns the results of whoever received it.
func Received(c *Catalog, err error) (*Catalog, error) {
	if err != nil {
		return nil, err
	}
	Normalize(c)
	StripRun(c)
	return c, nil
}
