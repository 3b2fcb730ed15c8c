// A client made with go-qemu, pinned apart from the program's own dependencies.
module rpcx/scripts/internal/interop/qmp

go 1.26.0

require github.com/digitalocean/go-qemu v0.0.0-20250212194115-ee9b0668d242

require (
	github.com/digitalocean/go-libvirt v0.0.0-20220804181439-8648fbde413e // indirect
	github.com/stretchr/testify v1.8.0 // indirect
	golang.org/x/sys v0.30.0 // indirect
)
