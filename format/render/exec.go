package render

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"text/template/parse"
)

const (
	maxDepth  = 1000     // of templates that call themselves
	maxOutput = 64 << 20 // of a loop, whose length a peer may have said
)

// execution is one execution of a template.
type execution struct {
	ctx   context.Context
	set   *Set
	out   []byte
	vars  []variable
	depth int
}

type variable struct {
	name  string
	value any
}

// flow says how the walk of a list goes on.
type flow int

const (
	next flow = iota
	breaks
	continues
)

func (x *execution) push(name string, v any) { x.vars = append(x.vars, variable{name, v}) }

// fail names the place of an error.
func (x *execution) fail(n parse.Node, err error) error {
	return fmt.Errorf("%s: %w", n, err)
}

func (x *execution) walk(dot any, node parse.Node) (flow, error) {
	switch n := node.(type) {
	case *parse.ListNode:
		return x.list(dot, n)
	case *parse.TextNode:
		x.out = append(x.out, n.Text...)
	case *parse.ActionNode:
		v, err := x.pipe(dot, n.Pipe)
		if err == nil && len(n.Pipe.Decl) == 0 {
			x.out = appendText(x.out, v)
		}
		return next, err
	case *parse.IfNode:
		return x.branch(dot, &n.BranchNode, false)
	case *parse.WithNode:
		return x.branch(dot, &n.BranchNode, true)
	case *parse.RangeNode:
		return x.rangeOver(dot, n)
	case *parse.TemplateNode:
		return next, x.template(dot, n)
	case *parse.BreakNode:
		return breaks, nil
	case *parse.ContinueNode:
		return continues, nil
	}
	return next, nil // a comment
}

func (x *execution) list(dot any, n *parse.ListNode) (flow, error) {
	if n == nil {
		return next, nil
	}
	for _, child := range n.Nodes {
		if f, err := x.walk(dot, child); err != nil || f != next {
			return f, err
		}
	}
	return next, nil
}

// branch is if and with.
func (x *execution) branch(dot any, n *parse.BranchNode, with bool) (flow, error) {
	mark := len(x.vars)
	defer func() { x.vars = x.vars[:mark] }()
	v, err := x.pipe(dot, n.Pipe)
	switch {
	case err != nil:
		return next, err
	case !truth(v):
		return x.list(dot, n.ElseList)
	case with:
		dot = v
	}
	return x.list(dot, n.List)
}

func (x *execution) rangeOver(dot any, n *parse.RangeNode) (flow, error) {
	mark := len(x.vars)
	defer func() { x.vars = x.vars[:mark] }()
	// The variables of the pipeline are the loop's own: declared here, set below.
	v, err := x.commands(dot, n.Pipe)
	if err != nil {
		return next, err
	}
	count := 0
	err = x.each(n.Pipe, v, func(key, elem any) (bool, error) {
		count++
		x.vars = x.vars[:mark]
		x.loopVariables(n.Pipe, key, elem)
		f, err := x.list(elem, n.List)
		if err == nil {
			err = x.bounded()
		}
		return f != breaks, err
	})
	x.vars = x.vars[:mark]
	if err != nil || count > 0 {
		return next, err
	}
	return x.list(dot, n.ElseList)
}

// bounded ends loops of any length.
func (x *execution) bounded() error {
	if len(x.out) > maxOutput {
		return fmt.Errorf("a loop prints more than %d bytes", maxOutput)
	}
	return x.ctx.Err()
}

// each calls f for the elements of v until it returns false.
func (x *execution) each(n parse.Node, v any, f func(key, elem any) (bool, error)) error {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		for i, elem := range v {
			if more, err := f(number(i), elem); err != nil || !more {
				return err
			}
		}
		return nil
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if more, err := f(key, v[key]); err != nil || !more {
				return err
			}
		}
		return nil
	case json.Number:
		count, err := integer(v)
		for i := 0; err == nil && i < count; i++ {
			if more, err := f(number(i), number(i)); err != nil || !more {
				return err
			}
		}
		return err
	}
	return x.fail(n, fmt.Errorf("cannot range over %s", kind(v)))
}

func (x *execution) loopVariables(p *parse.PipeNode, key, elem any) {
	values := []any{key, elem}
	if len(p.Decl) == 1 {
		values = values[1:]
	}
	for i, d := range p.Decl {
		if p.IsAssign {
			x.assign(d.Ident[0], values[i])
		} else {
			x.push(d.Ident[0], values[i])
		}
	}
}

func (x *execution) template(dot any, n *parse.TemplateNode) error {
	tree := x.set.trees[n.Name]
	if tree == nil {
		return fmt.Errorf("template %q is not defined", n.Name)
	}
	if x.depth++; x.depth > maxDepth {
		return fmt.Errorf("template %q calls itself too deeply", n.Name)
	}
	v, err := x.pipe(dot, n.Pipe)
	if err != nil {
		return err
	}
	saved := x.vars
	x.vars = []variable{{"$", v}}
	_, err = x.walk(v, tree.Root)
	x.vars = saved
	x.depth--
	return err
}

// pipe evaluates a pipeline and sets its variables.
func (x *execution) pipe(dot any, p *parse.PipeNode) (any, error) {
	if p == nil {
		return nil, nil
	}
	v, err := x.commands(dot, p)
	if err != nil {
		return nil, err
	}
	for _, d := range p.Decl {
		if p.IsAssign {
			x.assign(d.Ident[0], v)
		} else {
			x.push(d.Ident[0], v)
		}
	}
	return v, nil
}

func (x *execution) assign(name string, v any) {
	for i := len(x.vars) - 1; i >= 0; i-- {
		if x.vars[i].name == name {
			x.vars[i].value = v
			return
		}
	}
}
