package catalog

// Conventions say how the catalogs of a dialect are to be read where that differs
// from most dialects. They are part of a dialect's Spec; the zero value is the
// usual reading.
type Conventions struct {
	CallsStream      bool // every method streams: the example of one is a `call`, not a `subscribe`
	WrappedParams    bool // params may also be sent as the one element of an array
	RunnableExamples bool // an example gets a value for each required parameter, so that it works as it stands
	// Resource splits a method's name in two, which the table of methods shows as
	// RESOURCE and VERB. nil: names are shown whole.
	Resource func(m *Method) (resource, verb string)
	// Typed is the method as a user would type it. nil: its name.
	Typed func(m *Method) string
}
