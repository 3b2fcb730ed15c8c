package introspect

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// noModule is the error of a call to an unknown module.
type noModule string

func (n noModule) Error() string { return "Module not found: " + string(n) }

// Unwrap returns the JSON-RPC error for the peer.
func (n noModule) Unwrap() error { return wire.NewError(wire.CodeNoMethod, n.Error()) }

// unknown returns the error of a call to an unknown method or module.
func (mc *moduleCatalog) unknown(method string) error {
	module, name := Split(method)
	switch {
	case mc.available(module) == nil:
		return noModule(module)
	case name == "":
		name = method
	}
	return wire.Errorf(wire.CodeNoMethod, "Method not found: %s", name)
}

// available lists the names of a module's methods without the module's name, including the methods of every service. It
// returns nil for an unknown module.
func (mc *moduleCatalog) available(namespace string) []string {
	var names []string
	if namespace == serviceModule {
		for _, method := range []string{schemaMethod, moduleSchemaMethod, hashMethod, unsubscribeMethod} {
			names = append(names, strings.TrimPrefix(method, serviceModule+"_"))
		}
	}
	if m := mc.module(namespace); m != nil {
		names = append(names, m.Names...)
	}
	return names
}

// guided returns a function that writes the guidance event for a call of method that failed with err. It returns nil if
// guidance would not help, or if part of the answer was already sent.
func (mc *moduleCatalog) guided(err error, method string, some bool) func(o *scan.Object) {
	if some {
		return nil
	}
	if missing, ok := errors.AsType[noModule](err); ok {
		return func(o *scan.Object) { mc.guideToModule(o, string(missing), method) }
	}
	e := wire.AsError(err)
	module, name := Split(method)
	switch string(e.Code) {
	case strconv.Itoa(wire.CodeInvalidParams):
		return func(o *scan.Object) { mc.guideToParams(o, method, strings.TrimPrefix(e.Message, "invalid params: ")) }
	case strconv.Itoa(wire.CodeNoMethod):
		if names := mc.available(module); names != nil {
			return func(o *scan.Object) { mc.guideToMethod(o, module, name, names) }
		}
	}
	return nil
}

// guideToModule writes guidance about an unknown module. If the whole name is similar to a method's name, the guidance
// suggests that method.
func (mc *moduleCatalog) guideToModule(o *scan.Object, namespace, method string) {
	o.Text("error_kind", "module_not_found")
	o.Text("module", namespace)
	if near := catalog.Nearest(method, mc.names()); near != "" && method != moduleSchemaMethod {
		mc.suggest(o, near)
	} else {
		o.Text("action", "call_service_schema")
	}
}

// guideToMethod writes guidance about a method that its module does not have, or that its hook declined (status 100).
func (mc *moduleCatalog) guideToMethod(o *scan.Object, module, name string, names []string) {
	others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
	o.Text("error_kind", "method_not_found")
	o.Text("module", module)
	o.Text("method", name)
	o.Add("available_methods", scan.TextsOf(others))
	switch near := catalog.Closest(name, others); {
	case near != "":
		mc.suggest(o, module+"_"+near)
	case mc.module(module) == nil:
		o.Text("action", "call_service_schema")
	default:
		o.Text("action", "call_module_schema")
		o.Text("namespace", module)
	}
}

// guideToParams writes guidance about params that a method rejected.
func (mc *moduleCatalog) guideToParams(o *scan.Object, method, reason string) {
	module, name := Split(method)
	o.Text("error_kind", "invalid_params")
	o.Text("method", module+"."+name)
	o.Text("reason", reason)
	if mc.catalog.Method(method) == nil {
		o.Text("action", "call_service_schema")
		return
	}
	mc.suggest(o, method)
}

// suggest writes the guidance members that suggest a method, with its schema and example params if they are known.
func (mc *moduleCatalog) suggest(o *scan.Object, method string) {
	module, name := Split(method)
	o.Text("action", "try_method")
	o.Text("suggested_method", module+"."+name)
	entry := mc.catalog.Method(method)
	if entry == nil || entry.Params == nil {
		return
	}
	schema := variant(name, entry)
	if defs := mc.definitions(schema); defs != nil {
		schema = scan.Splice(schema, "$defs", defs)
	}
	o.Add("method_schema", schema)
	doc, _ := mc.catalog.Marshal()
	if example := catalog.ExampleValue(entry.Params, doc); scan.Type(example) == 'o' {
		o.Add("example_params", example)
	}
}

// names lists the wire names of all methods that belong to a module.
func (mc *moduleCatalog) names() []string {
	var names []string
	for _, m := range mc.modules {
		names = append(names, wire.Map(m.methods, func(entry *catalog.Method) string { return entry.Name })...)
	}
	return names
}
