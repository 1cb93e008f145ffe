package workers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/declared"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

type SpawnOptions struct {
	Name, Backend, session, socket string
	tmux                           bool
	Workspace                      command.Workspace
	worktreeDir                    string
	tags, Env, envFiles, Options   []string
	Cwd                            string
	killSignal                     string
	killTimeout                    *time.Duration
	KillMode                       *command.ChoiceFlag
	logLimit                       int64
	stdin                          bool
	Profile                        string
	Policy                         policyFlags
	Limits                         command.Limits
	Sandbox                        command.Sandbox
	ready                          readyFlags
	JSON, quiet                    bool
	Command                        []string
}

func NewSpawn(a *app.App) *cobra.Command { return newSpawnWith(a, &SpawnOptions{}) }

func newSpawnWith(a *app.App, o *SpawnOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "spawn --name NAME [flags] -- COMMAND [ARG...]",
		Short: "Start a worker",
		Long: `Start COMMAND as a worker that keeps running when this call, its terminal and its
session are gone. Everything after "--" is the command and its arguments, without a
shell; the worker gets the environment of this call.

The call returns when the worker runs. If anything fails, everything is undone and
nothing is left behind.

With --worktree the worker runs in a new git worktree of the repository that this
directory is in, or in what defaults.workspace of the config names. --workspace names
the plugin: copy copies a directory that need not be a repository; see docs/workspaces.md.

With --restart the worker's shim starts it again when its main process ends, even when
no swarm command is running: the same worker, with the same id and log. A kill, a
completion and the end of its --owner end it for good. A worker that fails too often
stays down.

With --memory, --cpus and --pids the worker and everything it starts can use no more
than that together; see docs/limits.md. A limit that this machine can't enforce is an
error, before anything is started, unless --limits best-effort says otherwise.

With --sandbox the worker sees all files and can write only to its directory, or to its
worktree, in which it can commit. Its home is empty, and it reaches no other process,
agent of keys or engine of containers by their sockets. If the machine can't make the
sandbox, nothing is started; see docs/sandbox.md.

With --ready-wait the call returns when the worker shows a prompt, or a line that
matches --ready-pattern. If that takes too long, or an agent asks something first, the
call prints a warning, which quotes the question. With --ready-wait=strict both are
errors. An error that the agent shows is an error in any case. The worker keeps running
in all these cases. A worker that ends before it is ready is an error too.`,
		Example: `  swarm spawn --name build -- make watch
  swarm spawn --name agent --tmux -- claude
  swarm spawn --name fix --tmux --worktree --branch fix/login --tag login -- claude
  swarm spawn --name docs --workspace copy --workspace-option exclude=build -- make docs
  swarm spawn --name web --cwd site --env PORT=8080 --restart on-failure -- npm start
  swarm spawn --name tests --memory 2g --cpus 1.5 --pids 500 --nice 10 -- make test
  swarm spawn --name safe --worktree --sandbox --sandbox-network none -- make test
  swarm spawn --name once --rm --owner $$ -- ./deploy
  swarm spawn --name db --ready-wait --ready-pattern 'ready to accept' -- postgres -D data`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Parse(cmd, args); err != nil {
				return err
			}
			return runSpawn(cmd.Context(), a, o)
		},
	}
	o.AddPlace(cmd, "process")
	f := cmd.Flags()
	f.StringArrayVar(&o.Options, "option", nil, "option of the backend, `KEY=VAL`; may be repeated")
	f.Var(command.Signal(&o.killSignal), "kill-signal", "first signal when it is killed (default: the backend's gentle way)")
	f.Var(command.Duration(&o.killTimeout), "kill-timeout", "how long it may then take to end (default: 5s)")
	o.KillMode = command.Choice(cmd, "kill-mode", "which processes get the first signal", "", "tree", "main")
	f.Var(command.Size(&o.logLimit), "log-limit", "how much of its output to keep (default: 64MiB)")
	f.BoolVar(&o.stdin, "stdin", false, "keep its standard input open for 'swarm send'; for workers without a terminal")
	f.StringVar(&o.Profile, "profile", "", "`NAME` of the agent's profile, or none (default: by its command; see 'swarm agent profiles')")
	o.Policy.addTo(cmd)
	o.Limits.AddTo(cmd)
	o.Sandbox.AddTo(cmd)
	o.ready.addTo(cmd)
	f.BoolVar(&o.JSON, "json", false, "print the worker as JSON")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no progress, and no tip on a terminal")
	command.CompleteWith(cmd, "kill-signal", swarm.Signals()...)
	return cmd
}

// AddPlace adds the flags for the name and the place of the worker; backend is the default
// one.
func (o *SpawnOptions) AddPlace(cmd *cobra.Command, backend string) {
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "`NAME` of the worker; required")
	f.BoolVar(&o.tmux, "tmux", false, "run in a tmux window; the same as --backend tmux (with another\nbackend: on a terminal there, as --option tty=true)")
	f.StringVar(&o.Backend, "backend", "", "`PLUGIN` that owns the worker (default: "+backend+")")
	f.StringVar(&o.session, "session", "", "tmux `SESSION` for the window (default: one of swarm's own)")
	f.StringVar(&o.socket, "tmux-socket", "", "`NAME` of the tmux server, as in tmux -L")
	o.Workspace.AddTo(cmd, "the name")
	f.StringVar(&o.worktreeDir, "worktree-dir", "", "`DIR` to create the workspace in (default: REPOSITORY-worktrees next to it)")
	f.StringArrayVar(&o.tags, "tag", nil, "`TAG` for the worker; may be repeated")
	f.StringArrayVar(&o.Env, "env", nil, "variable for the worker, `KEY=VAL`; may be repeated")
	f.StringArrayVar(&o.envFiles, "env-file", nil, "`FILE` of variables, a pipe, or - for stdin; may be repeated")
	f.StringVar(&o.Cwd, "cwd", "", "working directory `DIR` (default: this one); in a workspace, the same\ndirectory of that (default: its top)")
}

// Parse checks what needs no config.
func (o *SpawnOptions) Parse(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	if o.Name == "" {
		return output.Usagef("required flag --name not set")
	}
	if err := spawn.CheckName(o.Name); err != nil {
		return &output.UsageError{Text: err.Error()}
	}
	if dash > 0 {
		return output.Usagef("unexpected argument '%s' before --", args[0])
	}
	if dash < 0 || len(args) == 0 {
		return &output.UsageError{Text: "no command provided (use -- command...)", Hint: command.CommandHint(cmd, args)}
	}
	o.Command = args
	if o.tmux {
		switch o.Backend {
		case "", app.BackendTmux:
			o.Backend = app.BackendTmux
		case app.BackendProcess:
			return output.Usagef("--tmux and --backend %s exclude each other", o.Backend)
		default:
			o.Options = append([]string{swarm.OptionTTY + "=true"}, o.Options...)
		}
	}
	if o.stdin && o.Backend == app.BackendTmux {
		return output.Usagef("--stdin is for workers without a terminal: one in tmux takes input anyway, with 'swarm send %s'", o.Name)
	}
	if err := o.Workspace.Check(cmd); err != nil {
		return err
	}
	for _, entry := range o.Env {
		if _, _, err := command.KeyValue(entry); err != nil {
			return fmt.Errorf("invalid env format '%s' (expected KEY=VAL)", entry)
		}
	}
	if slices.Contains(o.tags, "") {
		return output.Usagef("--tag is empty")
	}
	if err := o.Policy.check(); err != nil {
		return err
	}
	return o.ready.check()
}

// Request adds what the config says to what the flags say. It reads the files of variables, which
// may be pipes, so it can be called only once.
func (o *SpawnOptions) Request(ctx context.Context, l *config.Loaded) (spawn.Request, error) {
	variables, err := app.ReadEnvFiles(ctx, o.envFiles)
	if err != nil {
		return spawn.Request{}, err
	}
	cfg := l.Config
	r := spawn.Request{
		Name:        o.Name,
		Backend:     cmp.Or(o.Backend, cfg.Defaults.Backend),
		Command:     o.Command,
		Options:     map[string]string{},
		OutputLimit: o.logLimit,
		Stdin:       o.stdin,
		Profile:     o.Profile,
		Limits:      setup.Limits(cfg.Defaults.Limits),
		Own:         setup.Decided(l).Or(o.Limits.Own()),
	}
	o.Limits.Apply(&r.Limits)
	r.Own.Sandbox = r.Own.Sandbox || o.Sandbox.Given()
	if r.Sandbox, err = o.Sandbox.Of(cfg.Defaults.Sandbox); err != nil {
		return r, err
	}
	r.Env = append(variables, o.Env...)
	r.Tags = spawn.Unique(slices.Concat(cfg.Defaults.Tags, o.tags))
	if r.Backend == app.BackendTmux {
		declared.SetUnlessEmpty(r.Options, "session", cmp.Or(o.session, cfg.Defaults.Session))
		declared.SetUnlessEmpty(r.Options, "socket", cmp.Or(o.socket, cfg.Defaults.TmuxSocket))
	} else if o.session != "" || o.socket != "" {
		return r, output.Usagef("--session and --tmux-socket need --tmux")
	}
	for _, entry := range o.Options {
		key, value, err := command.KeyValue(entry)
		if err != nil {
			return r, err
		}
		r.Options[key] = value
	}
	if ws := o.Workspace; ws.Given() {
		r.Workspace = &spawn.WorkspaceRequest{Plugin: ws.Plugin, Branch: ws.Branch, Parent: cfg.Defaults.WorktreeDir}
		if r.Workspace.Options, err = ws.Options(); err != nil {
			return r, err
		}
		if o.worktreeDir != "" {
			// A typed path is relative to this directory, that of a config file to the
			// repository.
			if r.Workspace.Parent, err = app.WorkingDir(o.worktreeDir); err != nil {
				return r, err
			}
		}
	}
	policy := setup.KillPolicy(cfg.Kill)
	policy.Signal = cmp.Or(o.killSignal, policy.Signal)
	policy.Grace = output.ValueOr(o.killTimeout, policy.Grace)
	if mode, ok := command.KillMode(o.KillMode.Value); ok {
		policy.Mode = mode
	}
	r.Kill = &policy
	if err := o.Policy.set(&r, cfg.Defaults); err != nil {
		return r, err
	}
	if r.Dir, err = app.WorkingDir(o.Cwd); err != nil {
		return r, err
	}
	r.DirGiven = o.Cwd != ""
	if o.Workspace.Given() && o.worktreeDir == "" {
		// Some directories for workspaces only a trusted file may name.
		err = l.CheckParent(declared.KeyWorktreeDir, r.Workspace.Parent, r.Dir)
	}
	return r, err
}

func runSpawn(ctx context.Context, a *app.App, o *SpawnOptions) error {
	output.FinishWriting()
	loaded, err := a.LoadProjectFor(o.Backend)
	if err != nil {
		return err
	}
	request, err := o.Request(ctx, loaded)
	if err != nil {
		return err
	}
	return a.With(ctx, loaded.Config, func(h *host.Host) error {
		starting, stop := startProgress(a, request.Name, o.JSON || o.quiet)
		request.Progress = starting
		request.Warn = func(w worker.Warning) { a.Warn(w.Text, w.Hint) }
		worker, err := h.Spawn().Spawn(ctx, request)
		stop()
		if err != nil {
			return HintAtWords(err, request.Command)
		}
		WarnOfFlags(a, h, request)
		WarnOfLimits(a, worker)
		var result any = view.WorkerJSONIn(a, worker)
		if o.ready.wait != "" {
			var ready bool
			ready, err = awaitReady(ctx, a, h, worker, o.ready)
			if hasEnded(err) {
				return ended(ctx, a, h, worker, o.JSON, err)
			}
			result = spawnJSON{WorkerJSON: view.WorkerJSONIn(a, worker), Ready: ready}
		}
		// It runs in any case, also if this call is interrupted.
		if o.JSON {
			return errors.Join(err, a.PrintJSON(result))
		}
		a.Printf("spawned %s%s\n", worker.Name, view.SpawnedWhere(worker))
		if !o.quiet {
			tipAfterSpawn(a, worker)
		}
		return err
	})
}

// startProgress returns a function that shows what the start of a worker waits for, unless it
// is quiet, and another that ends this.
func startProgress(a *app.App, worker string, quiet bool) (starting func(string), stop func()) {
	if quiet {
		return nil, func() {}
	}
	p := output.NewProgress(a.Err, a.ErrWidth)
	return func(text string) { p.Start(worker, text) }, p.Stop
}

func tipAfterSpawn(a *app.App, w worker.Worker) {
	if a.OutWidth() == 0 || a.ErrWidth() == 0 {
		return
	}
	look := "look: swarm logs " + w.Name + " --follow"
	if w.Where.Parts["window"] != "" {
		look = fmt.Sprintf("look: swarm peek %[1]s   attach: swarm attach %[1]s", w.Name)
	}
	a.Tip(look + "   end: swarm kill " + w.Name)
}

// WarnOfFlags warns of flags that a known agent needs as a worker and does not have.
// They are not added: what follows -- is the user's.
func WarnOfFlags(a *app.App, h *host.Host, r spawn.Request) {
	profiles, _ := h.Profiles() // 'swarm agent profiles' reports mistakes in a profile
	p := profiles.Named(r.Profile)
	if r.Profile == "" {
		p = profiles.For(r.Command)
	}
	if p == nil {
		return
	}
	_, added, missing := p.WithFlags(r.Command)
	if lacks := strings.Join(append(added, missing...), " "); lacks != "" {
		a.Warn(fmt.Sprintf("%s runs without %s", p.Title(), lacks), fmt.Sprintf("'swarm agent profiles %s' says why it needs that as a worker", p.Name()))
	}
}

// WarnOfLimits warns of limits that were asked for and are not enforced, or that hold for more than
// the worker.
func WarnOfLimits(a *app.App, w worker.Worker) {
	hint := "'swarm doctor' says which limits this machine offers, and how to get more"
	if w.Limits.IsZero() {
		hint = "a soft limit of the shell (ulimit -St) holds for the worker alone"
	}
	if w.Unenforced != "" {
		a.Warn(w.Unenforced, hint)
	}
}

// longestLine is how much of a command line a hint repeats, in bytes.
const longestLine = 500

// HintAtWords adds a hint to the error about a command that could not be started
// because it is a whole command line in one argument.
func HintAtWords(err error, argv []string) error {
	if !errors.Is(err, swarm.ErrInvalidSpec) || len(argv) != 1 || len(strings.Fields(argv[0])) < 2 {
		return err
	}
	line := argv[0]
	if len(line) > longestLine {
		return output.WithHint(err, "the command is one argument with spaces: give each word as an argument of its own, or for a shell -- sh -c 'LINE'")
	}
	hint := fmt.Sprintf("the command is one argument with spaces: for a shell use -- sh -c %s", humane.Word(line))
	// Without a shell, its operators and quotes would change what the caller's own one does.
	if !strings.ContainsAny(line, "|&;<>()$`\\\"'*?[]#~={}!%^\n\t") {
		hint = fmt.Sprintf("the command is one argument with spaces: use -- %s, or for a shell -- sh -c %s", line, humane.Word(line))
	}
	return output.WithHint(err, hint)
}

type spawnJSON struct {
	view.WorkerJSON
	Ready bool `json:"ready"`
}

// hasEnded reports whether the wait for a worker failed because the worker has ended.
func hasEnded(err error) bool {
	return errors.Is(err, worker.ErrEnded) || errors.Is(err, store.ErrNotFound)
}

// ended prints how a worker ended that was to become ready, and returns err, which is the reason.
func ended(ctx context.Context, a *app.App, h *host.Host, w worker.Worker, asJSON bool, err error) error {
	if now, _, lookErr := h.Workers(ctx, worker.Selection{Names: []string{w.ID}}); lookErr == nil && len(now) == 1 {
		w = now[0]
	}
	var printErr error
	if asJSON {
		printErr = a.PrintJSON(spawnJSON{WorkerJSON: view.WorkerJSONIn(a, w)})
	}
	a.Fail(err)
	lastWords(ctx, a, h, w)
	return cmp.Or(printErr, error(output.Failed))
}

// awaitReady waits until a new worker is ready. A question of the worker, or the end of the
// time, is a warning unless strict is set: the worker was spawned, and its screen shows the
// reason. An error on its screen and the end of the worker are errors.
func awaitReady(ctx context.Context, a *app.App, h *host.Host, w worker.Worker, flags readyFlags) (bool, error) {
	r := display.ReadyRequest{Pattern: flags.pattern, Timeout: output.ValueOr(flags.timeout, display.DefaultReadyTimeout)}
	err := h.Display().AwaitReady(ctx, w.ID, r)
	hint := ""
	switch asks, ok := errors.AsType[*display.AsksError](err); {
	case ok:
		hint = asks.Hint()
		err = fmt.Errorf("'%s' %s", asks.Name, view.AsksText(asks.Question, asks.Choices))
	case errors.Is(err, display.ErrBroken):
		return false, err
	case errors.Is(err, display.ErrRestarted):
		hint = fmt.Sprintf("see why with 'swarm logs %s'", w.Name)
	case errors.Is(err, display.ErrNotReady):
		err = fmt.Errorf("agent '%s' did not become ready within %gs", w.Name, r.Timeout.Seconds())
	default:
		return err == nil, err
	}
	if flags.wait == ReadyStrict {
		return false, output.WithHint(err, hint)
	}
	a.Warn(err.Error(), hint)
	return false, nil
}
