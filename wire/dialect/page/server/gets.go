package server

import (
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// Gets returns the dialect file's answers to GET requests.
func (s *server) Gets(about catalog.Info) wire.HTTPGets {
	gets := wire.HTTPGets{}
	for path, prog := range s.d.Page.Serve.Get {
		gets[path] = func(at string) ([]byte, error) {
			doc, names := s.told()
			var in scan.Object
			in.Text("url", at)
			sc := &program.Scope{Catalog: doc, Conn: &program.Conn{Hooks: names, Version: about.Version}}
			body, err := prog.First(in.End(), sc.Value)
			return scan.OrNull(body), err
		}
	}
	return gets
}
