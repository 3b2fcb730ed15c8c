package codec

import "rpcx/wire/dialect"

// Of returns the page's codec behind c; nil if c does not speak a page.
func Of(c dialect.Codec) *Codec {
	switch c := c.(type) {
	case *Codec:
		return c
	case sendsCancel:
		return c.Codec
	}
	return nil
}

// sendsCancel is a Codec whose cancels are sent over HTTP as well.
type sendsCancel struct{ *Codec }

// SendsCancel is the marker of dialect.CancelSender.
func (sendsCancel) SendsCancel() {}

// NewCodec returns the codec for one connection.
func (d *Dialect) NewCodec(o dialect.CodecOptions) dialect.Codec {
	c := d.newCodec(o)
	if d.Page.Cancel != nil && d.Page.Cancel.HTTP == "send" {
		return sendsCancel{c}
	}
	return c
}
