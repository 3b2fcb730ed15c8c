package catalog

// Conventions describes how a dialect's catalogs differ from the usual ones. It is part of a dialect's Spec. The zero
// value stands for the usual meaning.
type Conventions struct {
	CallsStream      bool // every method streams, so that examples use `call`, not `subscribe`
	WrappedParams    bool // params may also be sent as the only element of an array
	RunnableExamples bool // examples have a value for each required parameter, so that they run unchanged
	// Resource splits a method's name in two, which the table of methods shows as RESOURCE and VERB. If it is nil,
	// names are shown whole.
	Resource func(m *Method) (resource, verb string)
	// Typed returns the method as a user types it. If it is nil, that is the method's name.
	Typed func(m *Method) string
}
