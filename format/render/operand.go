package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"text/template/parse"
)

func (x *execution) commands(dot any, p *parse.PipeNode) (any, error) {
	var final []any // what the command before yielded
	for _, c := range p.Cmds {
		v, err := x.command(dot, c, final)
		if err != nil {
			return nil, err
		}
		final = []any{v}
	}
	return final[0], nil
}

func (x *execution) command(dot any, c *parse.CommandNode, final []any) (any, error) {
	if id, ok := c.Args[0].(*parse.IdentifierNode); ok {
		return x.function(dot, c, id.Ident, final)
	}
	if len(c.Args) > 1 || len(final) > 0 {
		return nil, x.fail(c.Args[0], errors.New("is no function and takes no arguments"))
	}
	return x.operand(dot, c.Args[0])
}

func (x *execution) function(dot any, c *parse.CommandNode, name string, final []any) (any, error) {
	args := make([]any, 0, len(c.Args))
	for _, a := range c.Args[1:] {
		v, err := x.operand(dot, a)
		if err != nil {
			return nil, err
		}
		if args = append(args, v); decides(name, v) {
			return v, nil
		}
	}
	v, err := call(name, append(args, final...))
	if err != nil {
		return nil, x.fail(c, err)
	}
	return v, nil
}

// decides says that and, or or has its value, so that the arguments that follow
// are not evaluated.
func decides(name string, v any) bool {
	return name == "and" && !truth(v) || name == "or" && truth(v)
}

func (x *execution) operand(dot any, node parse.Node) (any, error) {
	switch n := node.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.NilNode:
		return nil, x.fail(n, errors.New("nil is not a command"))
	case *parse.BoolNode:
		return n.True, nil
	case *parse.StringNode:
		return n.Text, nil
	case *parse.NumberNode:
		return constant(n)
	case *parse.FieldNode:
		return x.fields(n, dot, n.Ident)
	case *parse.VariableNode:
		return x.fields(n, x.variable(n.Ident[0]), n.Ident[1:])
	case *parse.PipeNode:
		return x.pipe(dot, n)
	case *parse.ChainNode:
		v, err := x.operand(dot, n.Node)
		if err != nil {
			return nil, err
		}
		return x.fields(n, v, n.Field)
	case *parse.IdentifierNode:
		return call(n.Ident, nil)
	}
	return nil, x.fail(node, errors.New("is not understood here"))
}

// variable finds a variable; the parser has seen to it that there is one.
func (x *execution) variable(name string) any {
	for i := len(x.vars) - 1; i >= 0; i-- {
		if x.vars[i].name == name {
			return x.vars[i].value
		}
	}
	return nil
}

// fields follows a path. A field of null is null, as in jq.
func (x *execution) fields(n parse.Node, v any, path []string) (any, error) {
	for _, name := range path {
		switch object := v.(type) {
		case nil:
			return nil, nil
		case map[string]any:
			v = object[name]
		default:
			return nil, x.fail(n, fmt.Errorf("no field %s in %s", name, kind(v)))
		}
	}
	return v, nil
}

func number(i int) json.Number { return json.Number(strconv.Itoa(i)) }

func constant(n *parse.NumberNode) (any, error) {
	switch {
	case n.IsInt:
		return json.Number(strconv.FormatInt(n.Int64, 10)), nil
	case n.IsUint:
		return json.Number(strconv.FormatUint(n.Uint64, 10)), nil
	case n.IsFloat && !math.IsInf(n.Float64, 0):
		return json.Number(fmt.Sprint(n.Float64)), nil
	}
	return nil, fmt.Errorf("%s: not a number of JSON", n.Text)
}
