package options

import (
	"rpcx/commands/cmdline"
	"rpcx/commands/env"
)

// writeOutFlag returns -w. Parsing the flag starts the measurement.
func writeOutFlag(run *env.Env) cmdline.Flag {
	return cmdline.Parsed(cmdline.GroupOutput, "write-out", "w", "at the end, print times, sizes and the status on stderr with the Go template `TEMPLATE` (json: all of them)", func(text string) (err error) {
		run.Common.Meter, err = env.NewMeter(text, run.Started)
		return err
	})
}
