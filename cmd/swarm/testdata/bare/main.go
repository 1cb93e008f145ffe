// Bare is a plugin of a third party that has nothing but what every backend has
// to: spawn, status and kill. Its workers are processes without a shim.
//
// A worker with BARE_KILL in its environment finds the plugin broken: its Kill does
// nothing and answers as the variable says, see [worker.broken].
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	plugin.Serve(plugin.Options{
		Name:    setting("NAME", "bare"),
		Version: setting("VERSION", "1"),
		Local:   true,
		Backend: func(context.Context, plugin.Env) (swarm.Backend, error) { return backend{}, nil },
	})
}

// setting returns what a file next to the plugin says, or other without such a file.
func setting(file, other string) string {
	path, err := os.Executable()
	if err == nil {
		if text, err := os.ReadFile(filepath.Join(filepath.Dir(path), file)); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return other
}

// A worker is a process group whose leader writes the exit code into a file.
const script = `"$@"; echo $? > "$0/code.new"; mv "$0/code.new" "$0/code"`

type backend struct{}

type worker struct {
	PID  int    `json:"pid"`
	Dir  string `json:"dir"`
	Kill string `json:"kill,omitempty"`
}

// hang never returns if the file HANG next to the plugin names the call: a plugin that ignores its
// context.
func hang(call string) {
	if !strings.Contains(setting("HANG", ""), call) {
		return
	}
	if path, err := os.Executable(); err == nil {
		_ = os.WriteFile(filepath.Join(filepath.Dir(path), "HUNG"), nil, 0o600)
	}
	for strings.Contains(setting("HANG", ""), call) {
		time.Sleep(10 * time.Millisecond)
	}
}

func (backend) Spawn(_ context.Context, spec swarm.Spec) (swarm.Handle, error) {
	hang("before-spawn")
	w := worker{Dir: spec.Local.RunDir}
	for _, kv := range spec.Environ() {
		if v, ok := strings.CutPrefix(kv, "BARE_KILL="); ok {
			w.Kill = v
		}
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, w.Dir}, spec.Command...)...)
	cmd.Dir, cmd.Env = spec.Dir, spec.Environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return swarm.Handle{}, err
	}
	w.PID = cmd.Process.Pid
	data, err := json.Marshal(w)
	hang("after-spawn")
	return swarm.Handle{Version: 1, Data: data}, err
}

func (backend) Status(_ context.Context, h swarm.Handle) (swarm.Status, error) {
	hang("status")
	w, err := open(h)
	if err != nil {
		return swarm.Status{}, err
	}
	return w.status()
}

func (backend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	hang("kill")
	w, err := open(h)
	if err != nil {
		return swarm.KillResult{}, err
	}
	if !w.alive() {
		s, err := w.status()
		return swarm.KillResult{Status: s, AlreadyEnded: true}, err
	}
	if setting("KILL", "") == "nothing" {
		exit := &swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled, Time: time.Now()}
		return swarm.KillResult{Status: swarm.Status{State: swarm.StateExited, Exit: exit}, Signal: "SIGKILL"}, nil
	}
	if w.Kill != "" && (o.Signal != "SIGKILL" || o.Grace == 0) {
		return w.broken()
	}
	r := swarm.KillResult{Signal: "SIGTERM"}
	if o.Signal != "" {
		r.Signal = o.Signal
	}
	_ = syscall.Kill(-w.PID, unix.SignalNum(r.Signal))
	if !w.gone(ctx, o.Grace) && o.Force {
		r.Forced = true
		_ = syscall.Kill(-w.PID, syscall.SIGKILL)
		w.gone(ctx, 5*time.Second)
	}
	if w.alive() {
		r.Survivors = []swarm.Process{{PID: w.PID, Name: "sh"}}
		return r, swarm.ErrSurvivors
	}
	if err := os.WriteFile(w.file("killed"), []byte(r.Signal), 0o600); err != nil {
		return r, err
	}
	r.Status, err = w.status()
	return r, err
}

// broken is a Kill that breaks the contract.
func (w worker) broken() (swarm.KillResult, error) {
	switch w.Kill {
	case "running":
		s, err := w.status()
		return swarm.KillResult{Status: s}, err
	case "nothing":
		return swarm.KillResult{}, nil
	case "hangs":
		select {} // whatever becomes of the context
	case "survivors":
		return swarm.KillResult{
			Status:    exited(&swarm.Exit{Cause: swarm.CauseKilled}),
			Survivors: []swarm.Process{{PID: w.PID, Name: "sh"}},
		}, nil
	default:
		return swarm.KillResult{}, fmt.Errorf("BARE_KILL=%s is unknown", w.Kill)
	}
}

func open(h swarm.Handle) (w worker, err error) {
	if err := json.Unmarshal(h.Data, &w); err != nil {
		return w, fmt.Errorf("%w: %w", swarm.ErrInvalidHandle, err)
	}
	return w, nil
}

func (w worker) file(name string) string { return filepath.Join(w.Dir, name) }

func (w worker) status() (swarm.Status, error) {
	// Alive first: the code is written before the end.
	if w.alive() {
		return swarm.Status{State: swarm.StateRunning, PID: w.PID}, nil
	}
	if text, at, err := read(w.file("code")); err == nil {
		code, err := strconv.Atoi(strings.TrimSpace(text))
		return exited(&swarm.Exit{Code: code, Cause: swarm.CauseExited, Time: at}), err
	} else if !errors.Is(err, fs.ErrNotExist) {
		return swarm.Status{}, err
	}
	if text, at, err := read(w.file("killed")); err == nil {
		return exited(&swarm.Exit{Code: -1, Signal: text, Cause: swarm.CauseKilled, Time: at}), nil
	}
	return swarm.Status{State: swarm.StateLost, Reason: "its leader is gone"}, nil
}

func exited(e *swarm.Exit) swarm.Status {
	return swarm.Status{State: swarm.StateExited, Exit: e}
}

func read(file string) (text string, at time.Time, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", time.Time{}, err
	}
	data, err := os.ReadFile(file)
	return string(data), info.ModTime(), err
}

// alive takes a zombie for dead, where there is /proc to read.
func (w worker) alive() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.PID))
	if err == nil {
		_, rest, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(rest, "Z")
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		return false
	}
	return syscall.Kill(w.PID, 0) == nil
}

// gone waits, within the limit, until the worker is dead.
func (w worker) gone(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for w.alive() {
		select {
		case <-ctx.Done():
			return !w.alive()
		case <-tick.C:
		}
	}
	return true
}
