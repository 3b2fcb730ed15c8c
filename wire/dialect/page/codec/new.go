package codec

import "rpcx/wire/dialect"

// Of returns the codec of a page that is c, or stands behind it; nil where there is none.
func Of(c dialect.Codec) *Codec {
	switch c := c.(type) {
	case *Codec:
		return c
	case sendsCancel:
		return c.Codec
	}
	return nil
}

// sendsCancel is a Codec whose cancels are sent over HTTP, too.
type sendsCancel struct{ *Codec }

// SendsCancel does nothing.
func (sendsCancel) SendsCancel() {}

// NewCodec returns the codec for one connection.
func (d *Dialect) NewCodec(o dialect.CodecOptions) dialect.Codec {
	c := d.newCodec(o)
	if d.Page.Cancel != nil && d.Page.Cancel.HTTP == "send" {
		return sendsCancel{c}
	}
	return c
}
