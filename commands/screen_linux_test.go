package commands

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"syscall"
)

// onScreen runs a shell command on its own terminal, in the directory of a script with the environment env, and returns all
// output to the terminal.
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
	_ = slave.Close() // the last close ends the output
	if err != nil {
		return "", 0, err
	}
	var came bytes.Buffer
	_, _ = came.ReadFrom(master) // it ends with an error
	var exit *exec.ExitError
	if err = cmd.Wait(); errors.As(err, &exit) {
		return came.String(), shellStatus(exit.ProcessState), nil
	}
	return came.String(), 0, err
}
