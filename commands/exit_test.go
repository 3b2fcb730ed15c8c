package commands

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
)

// TestDefect checks that a panic is reported as a defect of rpcx.
func TestDefect(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "approve"), []byte("#!/bin/sh\n"), 0o700),
		os.WriteFile(filepath.Join(dir, "forgotten"), []byte("#!/bin/sh\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	a := &env.Env{Started: time.Now()} // without a console, the warning about the file "forgotten" panics
	f := cmdline.Worst(execute(a, []string{"call", "demo:orders", "getOrder", "id=o_001", "--hooks", dir}))
	if f == nil || cmdline.StatusOf(f.Kind).Code != 70 || !strings.HasPrefix(f.Error(), "a defect of rpcx: ") {
		t.Errorf("the failure is %v", f)
	}
}
