// Command profiled is rpcx with a CPU profile, for scripts/bench --profile. It writes the profile to a file in the directory
// $RPCX_PROFILES. The profile does not include anything before main.
package main

import (
	"fmt"
	"os"
	"runtime/pprof"

	"rpcx/commands"
)

func main() {
	dir := os.Getenv("RPCX_PROFILES")
	if dir == "" { // rpcx itself, started by another rpcx
		commands.Main(os.Args).Exit()
	}
	f, err := os.CreateTemp(dir, "cpu-*")
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "profiled:", err)
		os.Exit(1)
	}
	out := commands.Main(os.Args)
	pprof.StopCPUProfile()
	f.Close()
	out.Exit()
}
