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

// noModule is the failure of a call about a module that there is not.
type noModule string

func (n noModule) Error() string { return "Module not found: " + string(n) }

// Unwrap is the error that the far side gets.
func (n noModule) Unwrap() error { return wire.NewError(wire.CodeNoMethod, n.Error()) }

// unknown is the failure of a call of a method that there is not.
func (o *offer) unknown(method string) error {
	module, name := Split(method)
	switch {
	case o.available(module) == nil:
		return noModule(module)
	case name == "":
		name = method
	}
	return wire.Errorf(wire.CodeNoMethod, "Method not found: %s", name)
}

// available are the methods of a module, those that every service has included;
// nil where there is no such module.
func (o *offer) available(namespace string) []string {
	var names []string
	if namespace == serviceModule {
		for _, method := range []string{schemaMethod, moduleSchemaMethod, hashMethod, unsubscribeMethod} {
			_, name := Split(method)
			names = append(names, name)
		}
	}
	if m := o.module(namespace); m != nil {
		names = append(names, m.names...)
	}
	return names
}

// guided is what guides whoever called method and failed with err: the members
// of a guidance event; nil where the failure is none of theirs, or where some of
// the answer was sent.
func (o *offer) guided(err error, method string, some bool) []string {
	if some {
		return nil
	}
	var missing noModule
	if errors.As(err, &missing) {
		return o.guideToModule(string(missing), method)
	}
	e := wire.AsError(err)
	module, name := Split(method)
	switch string(e.Code) {
	case strconv.Itoa(wire.CodeInvalidParams):
		return o.guideToParams(method, strings.TrimPrefix(e.Message, "invalid params: "))
	case strconv.Itoa(wire.CodeNoMethod):
		if names := o.available(module); names != nil {
			return o.guideToMethod(module, name, names)
		}
	}
	return nil
}

// guideToModule is guidance for a module that there is not. Where the whole of
// method is near to one that there is, that is what was meant.
func (o *offer) guideToModule(namespace, method string) []string {
	guide := []string{"error_kind", `"module_not_found"`, "module", quoted(namespace)}
	if near := catalog.Nearest(method, o.names()); near != "" && method != moduleSchemaMethod {
		return append(append(guide, "action", `"try_method"`), o.suggestion(near)...)
	}
	return append(guide, "action", `"call_service_schema"`)
}

// guideToMethod is guidance for a method that its module, which has others, does
// not have, or that its hook says is none of its own.
func (o *offer) guideToMethod(module, name string, names []string) []string {
	others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
	guide := []string{"error_kind", `"method_not_found"`, "module", quoted(module), "method", quoted(name), "available_methods", array(others)}
	switch near := catalog.Closest(name, others); {
	case near != "":
		return append(append(guide, "action", `"try_method"`), o.suggestion(module+"_"+near)...)
	case o.module(module) == nil:
		return append(guide, "action", `"call_service_schema"`)
	}
	return append(guide, "action", `"call_module_schema"`, "namespace", quoted(module))
}

// array is texts as a JSON array.
func array(texts []string) string {
	b, _ := json.Marshal(append([]string{}, texts...))
	return string(b)
}

// guideToParams is guidance for params that a method does not take.
func (o *offer) guideToParams(method, reason string) []string {
	module, name := Split(method)
	guide := []string{"error_kind", `"invalid_params"`, "method", quoted(module + "." + name), "reason", quoted(reason)}
	if o.catalog.Method(method) == nil {
		return append(guide, "action", `"call_service_schema"`)
	}
	return append(append(guide, "action", `"try_method"`), o.suggestion(method)...)
}

// suggestion is a method that would do, with its schema and params that it
// takes.
func (o *offer) suggestion(method string) []string {
	module, name := Split(method)
	entry := o.catalog.Method(method)
	members := []string{"suggested_method", quoted(module + "." + name)}
	if entry == nil || entry.Params == nil {
		return members
	}
	schema := variant(name, entry)
	if defs := o.definitions(schema); defs != nil {
		schema = scan.Splice(schema, "$defs", defs)
	}
	doc, _ := o.catalog.Marshal()
	members = append(members, "method_schema", string(schema))
	if example := catalog.ExampleValue(entry.Params, doc); scan.Type(example) == 'o' {
		members = append(members, "example_params", string(example))
	}
	return members
}

// names are all methods that are told of.
func (o *offer) names() []string {
	var names []string
	for _, m := range o.modules {
		for _, entry := range m.methods {
			names = append(names, entry.Name)
		}
	}
	return names
}
