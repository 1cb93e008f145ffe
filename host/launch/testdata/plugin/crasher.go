package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// crasher is a backend and a workspace plugin that ends in each call, in one of several ways.
type crasher struct {
	how string
	env plugin.Env
}

// die never returns.
func (d crasher) die() {
	switch d.how {
	case "exit":
		fmt.Fprintln(os.Stderr, "no engine here")
		d.env.Logger.Log(context.Background(), plugin.LevelTrace, "a trace")
		os.Exit(3)
	case "panic":
		d.env.Logger.Error("an error of before")
		go panic("out of luck")
		select {}
	case "deadlock":
		var mu sync.Mutex
		mu.Unlock() // a fatal error, which no recover catches
	case "log":
		d.env.Logger.Warn("a warning")
		os.Exit(4)
	case "signal":
		fmt.Fprintln(os.NewFile(2, "stderr"), "a wire came loose")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (d crasher) Spawn(context.Context, swarm.Spec) (h swarm.Handle, err error) { d.die(); return }

func (d crasher) Status(context.Context, swarm.Handle) (s swarm.Status, err error) { d.die(); return }

func (d crasher) Kill(context.Context, swarm.Handle, swarm.KillOptions) (r swarm.KillResult, err error) {
	d.die()
	return
}

func (d crasher) Find(context.Context, swarm.Lookup) (h swarm.Handle, err error) { d.die(); return }

func (d crasher) Output(context.Context, swarm.Handle, swarm.OutputOptions, func(swarm.Output) error) error {
	d.die()
	return nil
}

func (d crasher) Watch(context.Context, swarm.Handle, func(swarm.Status) error) error {
	d.die()
	return nil
}

func (d crasher) Input(context.Context, swarm.Handle, swarm.Input) (r swarm.InputResult, err error) {
	d.die()
	return
}

func (d crasher) Screen(context.Context, swarm.Handle, swarm.ScreenOptions) (s swarm.Screen, err error) {
	d.die()
	return
}

func (d crasher) Sweep(context.Context, []swarm.Handle, []swarm.Handle) (kept []string, err error) {
	d.die()
	return
}

func (d crasher) List(context.Context, func(swarm.Listed) error) error { d.die(); return nil }

func (d crasher) Check(context.Context) error { d.die(); return nil }

func (d crasher) Create(context.Context, swarm.WorkspaceSpec) (r swarm.WorkspaceRef, err error) {
	d.die()
	return
}

func (d crasher) Inspect(context.Context, swarm.WorkspaceRef, swarm.RemoveOptions) (s swarm.WorkspaceState, err error) {
	d.die()
	return
}

func (d crasher) Remove(context.Context, swarm.WorkspaceRef, swarm.RemoveOptions) (r swarm.RemoveResult, err error) {
	d.die()
	return
}
