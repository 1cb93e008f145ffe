package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"
)

// query is status and ls with one worker.
func query(ctx context.Context, w *world, o options) ([]row, error) {
	if _, err := w.swarm(ctx, "spawn", "--name", "one", "--", "sleep", "1000"); err != nil {
		return nil, err
	}
	m, err := race(ctx, o.runs,
		contender{name: "floor", run: w.floor},
		contender{name: "status", run: func(ctx context.Context) (time.Duration, error) { return w.swarm(ctx, "status", "one") }},
		contender{name: "ls", run: func(ctx context.Context) (time.Duration, error) { return w.swarm(ctx, "ls") }},
		contender{name: "version", run: func(ctx context.Context) (time.Duration, error) { return w.swarm(ctx, "version") }},
	)
	if err != nil {
		return nil, err
	}
	return []row{
		{what: "the floor: host + plugin + one call", measured: millis(m["floor"])},
		{what: "swarm version, no plugin", measured: millis(m["version"])},
		ratio("swarm status NAME", m["status"], "floor", m["floor"], 1.4),
		ratio("swarm ls, 1 worker", m["ls"], "floor", m["floor"], 1.4),
	}, w.clear(ctx)
}

// kill is the kill of one worker that ends at the first signal.
func kill(ctx context.Context, w *world, o options) ([]row, error) {
	spawn := func(flags ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			if _, err := w.swarm(ctx, "clean", "--all"); err != nil {
				return err
			}
			_, err := w.swarm(ctx, append(append([]string{"spawn", "--name", "one"}, flags...), "--", "sleep", "1000")...)
			return err
		}
	}
	end := func(ctx context.Context) (time.Duration, error) { return w.swarm(ctx, "kill", "one") }
	m, err := race(ctx, o.runs,
		contender{name: "floor", run: w.floor},
		contender{name: "process", before: spawn(), run: end},
		contender{name: "tmux", before: spawn("--tmux", "--tmux-socket", "bench"), run: end},
		contender{name: "system", run: func(ctx context.Context) (time.Duration, error) { return killSleeps(ctx, 1) }},
	)
	if err != nil {
		return nil, err
	}
	return []row{
		ratio("swarm kill NAME, process", m["process"], "floor", m["floor"], 2),
		ratio("swarm kill NAME, tmux", m["tmux"], "floor", m["floor"], 0),
		{what: "the system: kill and waitpid of a child", measured: millis(m["system"])},
	}, nil
}

// killSleeps starts n children and measures how long it takes to end them.
func killSleeps(ctx context.Context, n int) (time.Duration, error) {
	cmds := make([]*exec.Cmd, n)
	for i := range cmds {
		cmds[i] = exec.CommandContext(ctx, "sleep", "1000")
		if err := cmds[i].Start(); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	for _, cmd := range cmds {
		if err := cmd.Process.Kill(); err != nil {
			return 0, err
		}
	}
	for _, cmd := range cmds {
		_ = cmd.Wait() // the error is that it was killed
	}
	return time.Since(began), nil
}

// spawn is the start of one worker.
func spawn(ctx context.Context, w *world, o options) ([]row, error) {
	n := 0
	start := func(flags ...string) func(context.Context) (time.Duration, error) {
		return func(ctx context.Context) (time.Duration, error) {
			n++
			args := append([]string{"spawn", "--name", fmt.Sprint("w", n)}, flags...)
			return w.swarm(ctx, append(args, "--", "sleep", "1000")...)
		}
	}
	// A server that is there already, as for all but the first.
	tmux := []string{"--tmux", "--tmux-socket", "bench"}
	// Another server, for windows of tmux alone.
	if _, err := w.do(ctx, "tmux", "-L", "window", "new-session", "-d", "sleep", "1000"); err != nil {
		return nil, err
	}
	defer func() { _, _ = w.do(context.WithoutCancel(ctx), "tmux", "-L", "window", "kill-server") }()
	m, err := race(ctx, o.runs,
		contender{name: "floor", run: w.floor},
		contender{name: "window", run: func(ctx context.Context) (time.Duration, error) {
			return w.do(ctx, "tmux", "-L", "window", "new-window", "-d", "-P", "sleep", "1000")
		}},
		contender{name: "process", run: start()},
		contender{name: "tmux", run: start(tmux...)},
	)
	if err != nil {
		return nil, err
	}
	return []row{
		ratio("swarm spawn, process", m["process"], "floor", m["floor"], 3),
		// A window costs tmux a client, and a server that makes a pane: no host can avoid that.
		ratio("swarm spawn, tmux", m["tmux"], "floor and new-window", m["floor"]+m["window"], 3),
	}, w.clear(ctx)
}
