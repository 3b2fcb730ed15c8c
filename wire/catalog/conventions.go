package catalog

// Conventions describe how a dialect's catalogs differ from the usual. They are part of a dialect's Spec; the zero value is
// the usual reading.
type Conventions struct {
	CallsStream      bool // every method streams: examples use `call`, not `subscribe`
	WrappedParams    bool // params may also be sent as the only element of an array
	RunnableExamples bool // examples have a value for each required parameter, so that they run unchanged
	// Resource splits a method's name in two, which the table of methods shows as RESOURCE and VERB. nil: names are shown
	// whole.
	Resource func(m *Method) (resource, verb string)
	// Typed is the method as a user types it. nil: its name.
	Typed func(m *Method) string
}
