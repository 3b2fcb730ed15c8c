package oauth

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// A Source returns the tokens of the user's logins, and renews them before they expire. It is safe for concurrent use.
type Source struct {
	Account *string        // the chosen account, or nil
	Client  func() *Client // the client for renewing

	renewing atomic.Bool // the last request waits for a renewal, or its context has ended the renewal

	mu    sync.Mutex
	login *Login // the last login
}

// Renewing reports whether the last request waits for a renewal, or ended while it waited.
func (s *Source) Renewing() bool { return s.renewing.Load() }

// renewBefore is how long before its expiry a token is renewed.
const renewBefore = 30 * time.Second

// Token returns the token for a request to u, or "" if there is no login. refused is the token that the server has just
// refused, or "".
func (s *Source) Token(ctx context.Context, u *url.URL, refused string) (string, error) {
	if confidential(u) != nil {
		return "", nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewing.Store(false)
	l, err := s.current(u)
	if l == nil || err != nil {
		return "", err
	}
	if l.Access != refused && l.isFresh() || !l.Renews {
		return l.Access, nil
	}
	c := s.Client()
	defer c.Close()
	s.renewing.Store(true)
	renewed, err := l.renewed(ctx, c, refused)
	s.renewing.Store(ctx.Err() != nil)
	switch {
	case err == nil && renewed == nil: // another process has ended the login
		s.login = nil
		return "", nil
	case err != nil && refused == "" && time.Now().Before(l.Expiry):
		return l.Access, nil
	case err != nil:
		return "", err
	}
	s.login = renewed
	return renewed.Access, nil
}

// Identity implements transport.Login.
func (s *Source) Identity(a transport.Address) string {
	u, err := Resource(a)
	if err != nil {
		return ""
	}
	l, err := Find(u, s.Account)
	if l == nil || err != nil {
		return ""
	}
	return l.file()
}

// current returns the login for u with its secrets, or nil.
func (s *Source) current(u *url.URL) (*Login, error) {
	if s.login != nil && covers(s.login.Resource, u) {
		return s.login, nil
	}
	l, err := Find(u, s.Account)
	if l == nil || err != nil {
		return nil, err
	}
	s.login = l
	return l, l.open()
}

// isFresh reports whether the token needs no renewal yet.
func (l *Login) isFresh() bool { return l.Expiry.IsZero() || time.Until(l.Expiry) > renewBefore }

// renewed returns the login with a token other than refused, or nil if the login has ended in the meantime. Only one process at
// a time renews, because many servers accept a refresh token only once.
func (l *Login) renewed(ctx context.Context, c *Client, refused string) (*Login, error) {
	unlock, err := l.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	now, err := l.reload()
	if now == nil || err != nil {
		return nil, err
	}
	if now.Access != refused && now.isFresh() {
		return now, nil
	}
	c.allowPrivate() // the login determined whether the server may be private
	if err := c.renew(ctx, now); err != nil {
		f := wire.AsFault(err)
		switch {
		case f == nil || ctx.Err() != nil:
			return nil, err
		case errors.Is(f, errRefused):
			f.Err = errEnded
			return nil, f.About("the login to " + l.Resource + " has ended")
		}
		return nil, f.About("the login to " + l.Resource + " cannot be renewed")
	}
	return now, now.save()
}

// errEnded is the cause of a failed renewal after the authorization server ended the login.
var errEnded = errors.New("the login has ended")

// Ended reports whether a failure can be resolved only by a new login.
func Ended(err error) bool { return errors.Is(err, errEnded) }
