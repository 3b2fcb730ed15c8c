package options

import (
	"rpcx/commands/cmdline"
	"rpcx/commands/env"
)

// writeOutFlag makes -w, which has the run measured from the moment in which it is read.
func writeOutFlag(run *env.Env) cmdline.Flag {
	return cmdline.Parsed(cmdline.GroupOutput, "write-out", "w", "at the end, print times, bytes, messages and the status on stderr by the Go template `TEMPLATE` (json: all of them)", func(text string) (err error) {
		run.Common.Meter, err = env.NewMeter(text, run.Started)
		return err
	})
}
