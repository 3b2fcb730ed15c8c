package request

import (
	"context"

	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/dialect"
)

// A notificationPrinter prints the notifications during a call (call --method). It prints all notifications that
// arrived before the response, and stops before the response is printed.
type notificationPrinter struct {
	consumer *ResponsePrinter
	stream   dialect.Stream
	stop     context.CancelFunc
	done     <-chan struct{}
	err      error // the error of printing or of an expectation, valid after done
}

// startNotifications starts printing the messages for ReadOptions.Notifications, if set.
func (c *ResponsePrinter) startNotifications() error {
	if c.Notifications == nil {
		return nil
	}
	st, err := c.conv.Open(c.deadline.Ctx, *c.Notifications)
	if err != nil {
		return env.Cause(c.deadline.Ctx, err)
	}
	ctx, stop := context.WithCancel(c.deadline.Ctx)
	b := &notificationPrinter{consumer: c, stream: st, stop: stop}
	c.notifications = b
	b.done = wire.Go(func() {
		defer wire.Guard()
		for b.err == nil {
			m, err := st.Next(ctx)
			if err != nil {
				return
			}
			if b.err = b.print(m); b.err == nil {
				c.print.Idle()
			}
		}
		c.deadline.Cancel(b.err) // the end of the output ends the call
	})
	return nil
}

func (b *notificationPrinter) print(m wire.Message) error {
	c := b.consumer
	c.deadline.Received()
	ev, err := dialect.EventOf(c.conv, m)
	if err != nil {
		return err
	}
	_, err = c.print.Print(c.deadline.Ctx, &m, &ev)
	return err
}

// finishNotifications stops the notificationPrinter after the last notification before the response. It returns the
// error of printing. Further calls do nothing.
func (c *ResponsePrinter) finishNotifications() error {
	b := c.notifications
	if b == nil {
		return nil
	}
	c.notifications = nil
	b.stop()
	<-b.done
	ctx := c.deadline.Ctx
	more := b.err == nil && ctx.Err() == nil && dialect.Finish(ctx, b.stream) == nil
	for more && b.err == nil && ctx.Err() == nil {
		m, err := b.stream.Next(ctx)
		if err != nil {
			break
		}
		b.err = b.print(m)
	}
	cancelStream(ctx, b.stream)
	return b.err
}
