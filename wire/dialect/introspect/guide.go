package introspect

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// noModule is the error of a call that names a module we do not have.
type noModule string

func (n noModule) Error() string { return "Module not found: " + string(n) }

// Unwrap returns the JSON-RPC error that the far side gets.
func (n noModule) Unwrap() error { return wire.NewError(wire.CodeNoMethod, n.Error()) }

// unknown returns the error of a call whose method or module does not exist.
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

// available lists the methods of a module without its name, including those that
// every service has; nil if there is no such module.
func (mc *moduleCatalog) available(namespace string) []string {
	var names []string
	if namespace == serviceModule {
		for _, method := range []string{schemaMethod, moduleSchemaMethod, hashMethod, unsubscribeMethod} {
			_, name := Split(method)
			names = append(names, name)
		}
	}
	if m := mc.module(namespace); m != nil {
		names = append(names, m.names...)
	}
	return names
}

// guided returns the members of the guidance event for a call of method that
// failed with err. It returns nil if the caller could not have done better, or
// if some of the answer was sent already.
func (mc *moduleCatalog) guided(err error, method string, some bool) []string {
	if some {
		return nil
	}
	var missing noModule
	if errors.As(err, &missing) {
		return mc.guideToModule(string(missing), method)
	}
	e := wire.AsError(err)
	module, name := Split(method)
	switch string(e.Code) {
	case strconv.Itoa(wire.CodeInvalidParams):
		return mc.guideToParams(method, strings.TrimPrefix(e.Message, "invalid params: "))
	case strconv.Itoa(wire.CodeNoMethod):
		if names := mc.available(module); names != nil {
			return mc.guideToMethod(module, name, names)
		}
	}
	return nil
}

// guideToModule returns guidance for a module that does not exist. If the whole
// method name is near to an existing one, that one is suggested.
func (mc *moduleCatalog) guideToModule(namespace, method string) []string {
	guide := []string{"error_kind", `"module_not_found"`, "module", quoted(namespace)}
	if near := catalog.Nearest(method, mc.names()); near != "" && method != moduleSchemaMethod {
		return slices.Concat(guide, []string{"action", `"try_method"`}, mc.suggestion(near))
	}
	return append(guide, "action", `"call_service_schema"`)
}

// guideToMethod returns guidance for a method that its module, which has others,
// does not have, or whose hook declined it (status 100).
func (mc *moduleCatalog) guideToMethod(module, name string, names []string) []string {
	others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
	guide := []string{"error_kind", `"method_not_found"`, "module", quoted(module), "method", quoted(name), "available_methods", array(others)}
	switch near := catalog.Closest(name, others); {
	case near != "":
		return slices.Concat(guide, []string{"action", `"try_method"`}, mc.suggestion(module+"_"+near))
	case mc.module(module) == nil:
		return append(guide, "action", `"call_service_schema"`)
	}
	return append(guide, "action", `"call_module_schema"`, "namespace", quoted(module))
}

// array encodes texts as a JSON array.
func array(texts []string) string {
	b, _ := json.Marshal(append([]string{}, texts...))
	return string(b)
}

// guideToParams returns guidance for params that a method refused.
func (mc *moduleCatalog) guideToParams(method, reason string) []string {
	module, name := Split(method)
	guide := []string{"error_kind", `"invalid_params"`, "method", quoted(module + "." + name), "reason", quoted(reason)}
	if mc.catalog.Method(method) == nil {
		return append(guide, "action", `"call_service_schema"`)
	}
	return slices.Concat(guide, []string{"action", `"try_method"`}, mc.suggestion(method))
}

// suggestion returns the guidance members that suggest a method, with its schema
// and example params where they are known.
func (mc *moduleCatalog) suggestion(method string) []string {
	module, name := Split(method)
	entry := mc.catalog.Method(method)
	members := []string{"suggested_method", quoted(module + "." + name)}
	if entry == nil || entry.Params == nil {
		return members
	}
	schema := variant(name, entry)
	if defs := mc.definitions(schema); defs != nil {
		schema = scan.Splice(schema, "$defs", defs)
	}
	doc, _ := mc.catalog.Marshal()
	members = append(members, "method_schema", string(schema))
	if example := catalog.ExampleValue(entry.Params, doc); scan.Type(example) == 'o' {
		members = append(members, "example_params", string(example))
	}
	return members
}

// names lists the wire names of all methods in modules.
func (mc *moduleCatalog) names() []string {
	var names []string
	for _, m := range mc.modules {
		for _, entry := range m.methods {
			names = append(names, entry.Name)
		}
	}
	return names
}
