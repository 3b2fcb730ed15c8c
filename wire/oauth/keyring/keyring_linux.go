package keyring

import (
	"cmp"
	"os"
	"path/filepath"

	ss "github.com/zalando/go-keyring/secret_service"
)

// with calls do with the Secret Service and the attributes of a secret. The service must run on the user's bus, and its
// default collection must be unlocked.
func with(name string, do func(s *ss.SecretService, about map[string]string) error) error {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		if _, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus")); err != nil {
			return errNone // the library would start a bus
		}
	}
	s, err := ss.NewSecretService()
	if err != nil {
		return err
	}
	defer func() { _ = s.Conn.Close() }()
	var runs bool
	if err := s.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.freedesktop.secrets").Store(&runs); err != nil || !runs {
		return errNone
	}
	locked, err := s.GetLoginCollection().GetProperty("org.freedesktop.Secret.Collection.Locked")
	if closed, ok := locked.Value().(bool); err != nil || !ok || closed {
		return errNone
	}
	return do(s, map[string]string{"service": service, "username": name})
}

func get(name string) (secret string, err error) {
	err = with(name, func(s *ss.SecretService, about map[string]string) error {
		items, err := s.SearchItems(s.GetLoginCollection(), about)
		if err != nil || len(items) == 0 {
			return cmp.Or(err, errMissing)
		}
		session, err := s.OpenSession()
		if err != nil {
			return err
		}
		item, err := s.GetSecret(items[0], session.Path())
		if err == nil {
			secret = string(item.Value)
		}
		return err
	})
	return secret, err
}

func set(name, secret string) error {
	return with(name, func(s *ss.SecretService, about map[string]string) error {
		session, err := s.OpenSession()
		if err != nil {
			return err
		}
		return s.CreateItem(s.GetLoginCollection(), "rpcx login", about, ss.NewSecret(session.Path(), secret))
	})
}

func remove(name string) error {
	return with(name, func(s *ss.SecretService, about map[string]string) error {
		items, err := s.SearchItems(s.GetLoginCollection(), about)
		if err != nil || len(items) == 0 {
			return cmp.Or(err, errMissing)
		}
		return s.Delete(items[0])
	})
}
