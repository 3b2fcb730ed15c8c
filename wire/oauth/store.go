package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/oauth/keyring"
	"rpcx/wire/redact"
	"rpcx/wire/trust"
	"rpcx/wire/xdg"
)

// dir returns the directory of the logins, or "" if the environment names none. Each login is a file there, with its
// secrets unless the keyring has them.
func dir() string { return xdg.StateFile("logins") }

// path returns the name of a login's file. The caller holds the login's lock, so there is a directory.
func (l *Login) path() string { return filepath.Join(dir(), l.file()) }

// file returns the base name of a login's file.
func (l *Login) file() string { return hashed(l.Issuer, l.Resource, l.Account) + ".json" }

// hashed returns a part of a file name that stands for words.
func hashed(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:20]))
}

// List returns all logins, without the secrets in the keyring. If there are no logins, it makes only one system call.
func List() ([]*Login, error) {
	d := dir()
	if _, err := os.Stat(d); err != nil {
		return nil, nil
	}
	entries, err := os.ReadDir(d)
	if err != nil {
		return nil, wire.NewFault(wire.IO, "logins: "+err.Error(), err)
	}
	var all []*Login
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		l, err := load(filepath.Join(d, e.Name()))
		if err != nil {
			return nil, err
		}
		if l != nil {
			all = append(all, l)
		}
	}
	return all, nil
}

// load reads a login's file. It returns nil if the file no longer exists.
func load(file string) (*Login, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, wire.NewFault(wire.IO, "logins: "+err.Error(), err)
	}
	if err := trust.Check("logins", file); err != nil {
		return nil, err
	}
	var l Login
	if err := json.Unmarshal(b, &l); err != nil || l.Resource == "" {
		return nil, wire.Usagef("logins: %s is damaged; delete it", file)
	}
	redact.Sent(l.Access, l.Refresh, l.Secret)
	return &l, nil
}

// For returns the logins for u: those whose resource is the longest that covers u. A nil account matches any account.
func For(logins []*Login, u *url.URL, account *string) (best []*Login) {
	for _, l := range logins {
		switch {
		case !covers(l.Resource, u) || account != nil && l.Account != *account:
		case len(best) == 0 || len(l.Resource) > len(best[0].Resource):
			best = []*Login{l}
		case len(l.Resource) == len(best[0].Resource):
			best = append(best, l)
		}
	}
	return best
}

// Find returns the login for u, or nil. If account is nil, it returns the login without an account name, or the only
// login.
func Find(u *url.URL, account *string) (*Login, error) {
	all, err := List()
	if err != nil {
		return nil, err
	}
	best := For(all, u, account)
	var names []string
	for _, l := range best {
		if len(best) == 1 || l.Account == "" {
			return l, nil
		}
		names = append(names, l.Account)
	}
	if names == nil {
		return nil, nil
	}
	return nil, wire.Usagef("there are several logins to %s", best[0].Resource).WithHint("choose one with --account: " + strings.Join(names, ", "))
}

// open reads the secrets of a login from the keyring if they are stored there.
func (l *Login) open() error {
	if !l.Keyring {
		return nil
	}
	text, err := keyring.Get(l.file())
	if err == nil {
		err = json.Unmarshal([]byte(text), &l.secrets)
	}
	if err != nil {
		return wire.NewFault(wire.Auth, fmt.Sprintf("the login to %s is in the keyring, which cannot be read: %v", l.Resource, err), err).
			WithHint("unlock the keyring, or log in again")
	}
	redact.Sent(l.Access, l.Refresh, l.Secret)
	return nil
}

// save writes a login. Its secrets go to the keyring if an unlocked one exists.
func (l *Login) save() error {
	kept := *l
	hidden, err := json.Marshal(l.secrets)
	if kept.Keyring = err == nil && keyring.Set(l.file(), string(hidden)) == nil; kept.Keyring {
		kept.secrets = secrets{}
	}
	b, err := json.Marshal(kept)
	if err == nil {
		err = cache.Write(l.path(), b, time.Time{})
	}
	if err != nil {
		return wire.NewFault(wire.IO, "logins: "+err.Error(), err)
	}
	l.Keyring = kept.Keyring
	return nil
}

// Keep saves a new login. It deletes the logins to the same resource and account at other issuers, because an endpoint
// has one issuer.
func (l *Login) Keep(ctx context.Context) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := l.save(); err != nil {
		return err
	}
	all, err := List()
	for _, other := range all {
		if other.Resource == l.Resource && other.Account == l.Account && other.Issuer != l.Issuer {
			err = errors.Join(err, other.remove())
		}
	}
	return err
}

// End deletes a login and revokes its tokens.
func (l *Login) End(ctx context.Context, c *Client) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	now, err := l.reload()
	now = cmp.Or(now, l)
	err = errors.Join(err, now.remove())
	unlock()
	if err != nil {
		return err
	}
	return c.revoke(ctx, now)
}

// remove deletes a login.
func (l *Login) remove() error {
	if l.Keyring {
		_ = keyring.Delete(l.file())
	}
	if err := os.Remove(l.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return wire.NewFault(wire.IO, "logins: "+err.Error(), err)
	}
	return nil
}

// reload returns the stored login, or nil if the login has ended.
func (l *Login) reload() (*Login, error) {
	now, err := load(l.path())
	if now == nil || err != nil {
		return nil, err
	}
	return now, now.open()
}

// lock waits for the exclusive right to change the logins to l's resource and account, at any issuer (see Keep). A renewal
// holds the lock during its request, so logins to other resources have other locks. The lock ends with the process.
func (l *Login) lock(ctx context.Context) (unlock func(), err error) {
	d := dir()
	if d == "" {
		return nil, wire.Usagef("neither XDG_STATE_HOME nor HOME names a directory for logins")
	}
	var f *os.File
	if err = os.MkdirAll(d, 0o700); err == nil {
		f, err = os.OpenFile(filepath.Join(d, "."+hashed(l.Resource, l.Account)+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err != nil {
		return nil, wire.NewFault(wire.IO, "logins: "+err.Error(), err)
	}
	for !tryLock(f) {
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		}
	}
	return func() { f.Close() }, nil
}

// lockPause is the time between two attempts to lock.
const lockPause = 10 * time.Millisecond
