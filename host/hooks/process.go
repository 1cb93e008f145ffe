package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// leaveLimit is how long a caller that is interrupted waits for the results of runs.
const leaveLimit = 2 * time.Second

// Launcher runs commands, each below a process of its own that calls [Supervise].
type Launcher struct {
	// Executable is the path of swarm.
	Executable string
	// Env is the environment of commands, see [CommandEnv].
	Env []string
}

// Launch runs a command, with the variables vars in addition, and returns how it ended. If
// ctx ends before, the command continues for at most its timeout, and the error is that of ctx.
func (l Launcher) Launch(ctx context.Context, vars []string, c Call) (Result, error) {
	call, err := json.Marshal(c)
	if err != nil {
		return Result{}, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), l.Executable, Verb)
	cmd.Dir = "/"
	cmd.Env = append(slices.Clone(l.Env), vars...)
	cmd.Stdin = bytes.NewReader(call)
	var out bytes.Buffer
	cmd.Stdout = &out
	// The session lets it find what the command starts, and keeps Ctrl-C away.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return Result{Failure: "cannot be started: " + errtext.Cause(err).Error()}, nil
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(leaveLimit):
			return Result{}, ctx.Err()
		}
	}
	var r Result
	if derr := json.Unmarshal(out.Bytes(), &r); derr != nil {
		return Result{Failure: fmt.Sprintf("its end is not known: %v", errors.Join(err, derr))}, nil
	}
	return r, nil
}

// passed are the variables that a command gets of the environment of the caller: those that
// say where a person's things are, and how to reach their desktop. Variables that may hold
// secrets are not among them.
var passed = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR",
	"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
}

// CommandEnv returns the environment of commands for a caller with the environment env that
// works on the state directory dir.
func CommandEnv(env []string, dir string) []string {
	kept := environ.Without(env, func(name string) bool {
		return !slices.Contains(passed, name) && !strings.HasPrefix(name, "LC_") && !strings.HasPrefix(name, "XDG_")
	})
	return append(kept, swarm.EnvDir+"="+dir)
}
