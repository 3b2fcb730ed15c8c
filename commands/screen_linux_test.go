package commands

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"syscall"
)

// onScreen runs a shell command on a terminal of its own, in a script's directory and with the environment env, and returns
// everything written to the terminal.
func onScreen(typed string, env func(key string) string) (shown string, status int, err error) {
	master, slave, err := openTerminal()
	if err != nil {
		return "", 0, err
	}
	defer master.Close()
	cmd := exec.Command("sh", "-c", typed)
	cmd.Dir = env("WORK")
	for _, key := range strings.Fields("PATH WORK HOME SHARED HOOKS XDG_RUNTIME_DIR XDG_CONFIG_HOME TMPDIR GORACE") {
		cmd.Env = append(cmd.Env, key+"="+env(key))
	}
	cmd.Env = append(cmd.Env, "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	_ = slave.Close() // the output ends when all copies are closed
	if err != nil {
		return "", 0, err
	}
	var came bytes.Buffer
	_, _ = came.ReadFrom(master) // reading a closed terminal fails
	var exit *exec.ExitError
	if err = cmd.Wait(); errors.As(err, &exit) {
		return came.String(), shellStatus(exit.ProcessState), nil
	}
	return came.String(), 0, err
}
