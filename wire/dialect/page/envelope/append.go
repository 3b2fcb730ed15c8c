package envelope

import (
	"strconv"

	"rpcx/wire/dialect"
)

// Appends reports whether codecs of the plan append calls: no program writes their calls, ids are integers, and each call has one
// response.
func (c *Plan) Appends() bool {
	counted := c.names.IDs == "" || c.names.IDs == "integer"
	free := len(c.forbidden) == 0 && len(c.request.none) == 0 // of members that users must not add
	return free && c.page.Write.Request == nil && counted && c.request.id.head >= 0 && !c.array && c.response.more.head < 0 && !c.items
}

// AppendCall appends a call if the plan Appends. See dialect.Abilities.
func (c *codec) AppendCall(b []byte, op *dialect.Op) (msg []byte, id int64, ok bool) {
	if op.Kind != dialect.Call || len(op.Funcs) > 0 || !c.plan.Appends() {
		return b, 0, false
	}
	c.id = strconv.AppendInt(c.id[:0], c.last+1, 10)
	flat, err := c.lay(&c.plan.request, c.id, op.Method, op.Params)
	if err != nil {
		return b, 0, false
	}
	c.last++
	return appended(b, c.parts, flat, op.Extra), c.last, true
}
