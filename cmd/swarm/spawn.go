package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The plugins that flags of spawn name.
const (
	backendTmux       = "tmux"
	workspaceWorktree = "worktree"
)

type spawnOptions struct {
	name, backend, session, socket string
	tmux                           bool
	worktree                       bool
	branch, worktreeDir            string
	tags, env, options             []string
	cwd                            string
	killSignal                     signalFlag
	killTimeout                    durationFlag
	killMode                       *choiceFlag
	logLimit                       sizeFlag
	json                           bool
	command                        []string
}

func newSpawn(a *app) *cobra.Command {
	o := &spawnOptions{}
	cmd := &cobra.Command{
		Use:   "spawn --name NAME [flags] -- COMMAND [ARG...]",
		Short: "Start a worker",
		Long: `Start COMMAND as a worker that goes on when this call, its terminal and its
session are gone. COMMAND gets everything after "--" as it is, without a shell,
and the environment of this call.

It returns when the worker runs. If anything fails, what was made is undone and
nothing is left behind.`,
		Example: `  swarm spawn --name build -- make watch
  swarm spawn --name agent --tmux -- claude
  swarm spawn --name fix --tmux --worktree --branch fix/login --tag login -- claude
  swarm spawn --name web --cwd site --env PORT=8080 -- npm start`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parse(cmd, args); err != nil {
				return err
			}
			return a.spawn(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "name of the worker; required")
	f.BoolVar(&o.tmux, "tmux", false, "run in a tmux window; the same as --backend tmux")
	f.StringVar(&o.backend, "backend", "", "plugin that owns the worker")
	f.StringVar(&o.session, "session", "", "tmux session for the window")
	f.StringVar(&o.socket, "tmux-socket", "", "tmux server, as in tmux -L")
	f.BoolVar(&o.worktree, "worktree", false, "run in a new git worktree of the repository")
	f.StringVar(&o.branch, "branch", "", "branch of the worktree (default: the name)")
	f.StringVar(&o.worktreeDir, "worktree-dir", "", "where to make the worktree (default: beside the repository)")
	f.StringArrayVar(&o.tags, "tag", nil, "tag the worker; may be repeated")
	f.StringArrayVar(&o.env, "env", nil, "set a variable, KEY=VAL; may be repeated")
	f.StringArrayVar(&o.options, "option", nil, "set an option of the backend, KEY=VAL; may be repeated")
	f.StringVar(&o.cwd, "cwd", "", "working directory (default: this one)")
	f.Var(&o.killSignal, "kill-signal", "first signal when it is killed (default: the backend's gentle way)")
	f.Var(&o.killTimeout, "kill-timeout", "how long it may then take to end (default: 5s)")
	o.killMode = choice(cmd, "kill-mode", "who gets the first signal", "", "tree", "main")
	f.Var(&o.logLimit, "log-limit", "how much of its output to keep (default: 64MiB)")
	f.BoolVar(&o.json, "json", false, "print the worker as JSON")
	completeWith(cmd, "kill-signal", swarm.Signals()...)
	return cmd
}

// parse checks what needs no config.
func (o *spawnOptions) parse(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	if o.name == "" {
		return usagef("required flag --name not set")
	}
	if dash > 0 {
		return usagef("unexpected argument '%s' before --", args[0])
	}
	if dash < 0 || len(args) == 0 {
		return fmt.Errorf("no command provided (use -- command...)")
	}
	o.command = args
	if o.tmux && o.backend != "" && o.backend != backendTmux {
		return usagef("--tmux and --backend %s exclude each other", o.backend)
	}
	if o.tmux {
		o.backend = backendTmux
	}
	if !o.worktree && (o.branch != "" || o.worktreeDir != "") {
		return usagef("--branch and --worktree-dir need --worktree")
	}
	for _, entry := range o.env {
		if _, _, err := keyValue(entry); err != nil {
			return fmt.Errorf("invalid env format '%s' (expected KEY=VAL)", entry)
		}
	}
	for _, tag := range o.tags {
		if tag == "" {
			return usagef("--tag is empty")
		}
	}
	return nil
}

func keyValue(entry string) (key, value string, err error) {
	key, value, ok := strings.Cut(entry, "=")
	if !ok || key == "" {
		return "", "", usagef("invalid format '%s' (expected KEY=VAL)", entry)
	}
	return key, value, nil
}

// request adds what the config says to what the flags say.
func (o *spawnOptions) request(cfg config.Config) (host.SpawnRequest, error) {
	r := host.SpawnRequest{
		Name:        o.name,
		Backend:     o.backend,
		Command:     o.command,
		Env:         o.env,
		Options:     map[string]string{},
		OutputLimit: int64(o.logLimit),
	}
	if r.Backend == "" {
		r.Backend = cfg.Defaults.Backend
	}
	for _, tag := range append(cfg.Defaults.Tags, o.tags...) {
		if !contains(r.Tags, tag) {
			r.Tags = append(r.Tags, tag)
		}
	}
	if r.Backend == backendTmux {
		setUnlessEmpty(r.Options, "session", cfg.Defaults.Session, o.session)
		setUnlessEmpty(r.Options, "socket", cfg.Defaults.TmuxSocket, o.socket)
	} else if o.session != "" || o.socket != "" {
		return r, usagef("--session and --tmux-socket need --tmux")
	}
	for _, entry := range o.options {
		key, value, err := keyValue(entry)
		if err != nil {
			return r, err
		}
		r.Options[key] = value
	}
	if o.worktree {
		r.Workspace = &host.WorkspaceRequest{Plugin: workspaceWorktree, Branch: o.branch, Parent: cfg.Defaults.WorktreeDir}
		if o.worktreeDir != "" {
			r.Workspace.Parent = o.worktreeDir
		}
	}
	o.setPolicy(&r, cfg.Kill)
	var err error
	r.Dir, err = workingDir(o.cwd)
	return r, err
}

func (o *spawnOptions) setPolicy(r *host.SpawnRequest, k config.Kill) {
	policy := killPolicy(k)
	if o.killSignal != "" {
		policy.Signal = string(o.killSignal)
	}
	if o.killTimeout.d != nil {
		policy.Grace = *o.killTimeout.d
	}
	switch o.killMode.value {
	case swarm.KillMain.String():
		policy.Mode = swarm.KillMain
	case swarm.KillTree.String():
		policy.Mode = swarm.KillTree
	}
	r.Kill = &policy
}

func setUnlessEmpty(m map[string]string, key string, values ...string) {
	for _, value := range values {
		if value != "" {
			m[key] = value
		}
	}
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

// workingDir is absolute, so that it means the same to a plugin.
func workingDir(cwd string) (string, error) {
	if filepath.IsAbs(cwd) {
		return filepath.Clean(cwd), nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot tell the working directory: %w; use --cwd", err)
	}
	return filepath.Join(dir, cwd), nil
}

func (a *app) spawn(ctx context.Context, o *spawnOptions) error {
	finishWriting()
	loaded, err := a.loadAll()
	if err != nil {
		return err
	}
	a.warnUntrusted(loaded)
	request, err := o.request(loaded.Config)
	if err != nil {
		return err
	}
	h, err := a.open(ctx, loaded.Config)
	if err != nil {
		return err
	}
	defer h.Close()
	worker, err := h.Spawn(ctx, request)
	if err != nil {
		return err
	}
	if o.json {
		return a.printJSON(workerJSONOf(worker))
	}
	a.printf("spawned %s%s\n", worker.Name, spawnedWhere(worker))
	return nil
}

// spawnedWhere tells where a new worker is: its window, or its process.
func spawnedWhere(w host.Worker) string {
	switch {
	case w.Where.Name != "":
		return fmt.Sprintf(" (%s: %s)", w.Backend, w.Where.Name)
	case w.PID != 0:
		return fmt.Sprintf(" (pid: %d)", w.PID)
	default:
		return ""
	}
}

// warnUntrusted tells of plugin tables that were left out.
func (a *app) warnUntrusted(loaded *config.Loaded) {
	if len(loaded.Ignored) == 0 {
		return
	}
	a.warn(fmt.Sprintf("%s: plugins of this file are not used: it is not trusted", loaded.Ignored[0]),
		"read it, then run 'swarm config trust' to use them")
}
