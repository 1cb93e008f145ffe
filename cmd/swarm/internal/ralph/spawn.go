package ralph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/cmd/swarm/internal/workers"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	defaultIterations = 50
	defaultNoProgress = 3
	defaultInactivity = 180 * time.Second
)

type spawnOptions struct {
	workers.SpawnOptions
	promptFile                string
	iterations                *int
	noProgress, perHour       *int
	maxTime                   *time.Duration
	inactivity                *time.Duration
	donePattern, readyPattern string
	atOnce, notAtOnce         bool
	noWorktree                bool
	ownTree                   bool // --worktree was not given, but is the default here
	maxContext                int
	replace, cleanState       bool
	noRun, foreground         bool
	continues                 bool
}

func newSpawn(a *app.App) *cobra.Command {
	o := &spawnOptions{}
	cmd := &cobra.Command{
		Use:   "spawn --name NAME --prompt-file FILE [flags] -- COMMAND [ARG...]",
		Short: "Start a loop",
		Long: `Start a worker that runs COMMAND again and again, each time on a terminal of its
own, and gives it the prompt once it is ready. The prompt file is read anew each
time. An iteration ends when COMMAND exits, when a known agent is back at its prompt
after its turn, when COMMAND has written nothing for the inactivity timeout, or when
its output matches the done pattern. All processes that COMMAND started end with it.
The prompt's own echo never matches the pattern.

A headless agent, such as 'claude -p', gets the prompt on its standard input, and its
exit ends the iteration; it has no inactivity timeout unless one is given. In any
command, {prompt} stands for the prompt and {prompt_file} for a file that holds it;
either makes the command headless, with an empty standard input.

An exit code other than 0, or an error that the agent shows, is a failure, followed by
a wait that doubles from one second to five minutes; five failures in a row end the
loop. A prompt that a known agent did not take, or was not seen to work on, is a failure
too, and its iteration is repeated. An iteration that a usage limit ended is also
repeated: the loop waits for the end of the limit, once, and for 6 hours at most.

After three iterations without progress (no commit, no changed file, and the same
answer) the loop is paused; --no-progress sets how many. --max-time bounds how long all
iterations may take together, and --max-per-hour how many may begin in an hour.

A known agent that asks something stops the loop, and keeps running: answer it with
'swarm answer', then continue with 'swarm ralph resume'. Any other agent that ends, or
is silent, at a login, theme or trust dialog ends the loop.

With --continue each iteration continues the agent's conversation of the previous one,
as far as its profile knows how.

In a git repository the loop works in a worktree of its own, on a branch of its
name; --no-worktree runs it in the working directory.

With the backend of a cluster, the loop runs on this machine and each agent there.

With --replace, uncommitted work in the old worktree is saved before, and the command
that brings it back is printed.`,
		Example: `  swarm ralph spawn --name agent --prompt-file PROMPT.md -- claude
  swarm ralph spawn --name agent --prompt-file PROMPT.md --max-iterations 10 \
      --done-pattern 'ALL DONE' -- claude --dangerously-skip-permissions
  swarm ralph spawn --name agent --prompt-file PROMPT.md --replace -- claude -p`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parse(cmd, args); err != nil {
				return err
			}
			return runSpawn(cmd.Context(), a, o)
		},
	}
	o.addTo(cmd)
	return cmd
}

func (o *spawnOptions) addTo(cmd *cobra.Command) {
	o.AddPlace(cmd, app.BackendTmux)
	o.Limits.AddTo(cmd)
	o.Sandbox.AddTo(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.noWorktree, "no-worktree", false, "run in the working directory, also in a git repository")
	f.Var(command.Percent(&o.maxContext), "max-context", "end an iteration whose agent uses more of its context than this `PERCENT`, and 15 more")
	f.StringVar(&o.promptFile, "prompt-file", "", "`FILE` with the prompt; required")
	f.Var(command.Count(&o.iterations, 1), "max-iterations", "how many iterations at most (default: 50)")
	f.Var(command.Count(&o.noProgress, 0), "no-progress", "pause after so many iterations without progress; 0: never (default: 3)")
	f.Var(command.Duration(&o.maxTime), "max-time", "begin no iteration once all of them took this long (default: no limit)")
	f.Var(command.Count(&o.perHour, 0), "max-per-hour", "begin no more iterations than this in an hour (default: no limit)")
	f.Var(command.Duration(&o.inactivity), "inactivity-timeout", "how long the agent may be silent; 0: no limit (default: 180s; headless: 0)")
	f.StringVar(&o.donePattern, "done-pattern", "", "regular expression `RE` that ends the loop when the agent writes it")
	f.BoolVar(&o.atOnce, "check-done-continuous", true, "end the agent as soon as the pattern appears")
	f.BoolVar(&o.notAtOnce, "no-check-done-continuous", false, "let the iteration end before the agent is ended")
	f.StringVar(&o.readyPattern, "ready-pattern", "", "regular expression `RE` for output of an agent that is ready (default: those of known agents)")
	f.StringVar(&o.Profile, "profile", "", "`NAME` of the agent's profile, or none (default: by its command)")
	f.BoolVar(&o.continues, "continue", false, "continue the agent's conversation in each iteration")
	f.BoolVar(&o.replace, "replace", false, "kill and remove a worker of this name, its worktree and its loop before")
	f.BoolVar(&o.cleanState, "clean-state", false, "remove the state of an earlier loop of this name before")
	f.BoolVar(&o.noRun, "no-run", false, "start the worker, but no iteration before 'swarm ralph resume'")
	f.BoolVar(&o.foreground, "foreground", false, "show the loop here until it ends; an interrupt ends it")
	f.BoolVar(&o.JSON, "json", false, "print the worker as JSON")
	// A loop has no flags for these.
	o.KillMode = &command.ChoiceFlag{}
	o.Policy.Restart = &command.ChoiceFlag{Value: config.RestartNo}
	o.Policy.Retain = config.RetainUntilClean
}

// parse checks what needs neither config nor host.
func (o *spawnOptions) parse(cmd *cobra.Command, args []string) error {
	if o.Name != "" && o.promptFile == "" {
		return output.Usagef("required flag --prompt-file not set")
	}
	for _, pair := range [][2]string{
		{"worktree", "no-worktree"},
		{"workspace", "no-worktree"},
		{"no-run", "foreground"},
		{"foreground", "json"},
		{"check-done-continuous", "no-check-done-continuous"},
	} {
		if cmd.Flags().Changed(pair[0]) && cmd.Flags().Changed(pair[1]) {
			return output.Usagef("--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	if !o.Workspace.Given() && !o.noWorktree && inRepository(o.Cwd) {
		o.Workspace.Default, o.ownTree = true, true
	}
	if err := o.Parse(cmd, args); err != nil {
		return err
	}
	o.Backend = cmp.Or(o.Backend, app.BackendTmux)
	if err := ralph.CheckPlaces(o.Command); err != nil {
		return output.Usagef("%v", err)
	}
	if err := checkMaxTime(o.maxTime); err != nil {
		return err
	}
	for flag, pattern := range map[string]string{"done-pattern": o.donePattern, "ready-pattern": o.readyPattern} {
		if !cmd.Flags().Changed(flag) {
			continue
		}
		if _, err := ralph.CompilePattern(pattern); err != nil {
			return output.Usagef("invalid value '%s' for --%s: %v", pattern, flag, err)
		}
	}
	return nil
}

func checkMaxTime(limit *time.Duration) error {
	if limit != nil && *limit <= 0 {
		return output.Usagef("invalid value '0s' for --max-time: expected a time such as 2h")
	}
	return nil
}

func (o *spawnOptions) state() (ralph.State, error) {
	prompt, err := app.WorkingDir(o.promptFile)
	if err != nil {
		return ralph.State{}, err
	}
	if _, err := ralph.ReadPrompt(prompt); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return ralph.State{}, output.WithHint(fmt.Errorf("prompt file not found: %s", o.promptFile),
				"write it first; 'swarm ralph init' writes one to begin with")
		}
		return ralph.State{}, err
	}
	st := ralph.State{
		Name:          o.Name,
		Command:       o.Command,
		PromptFile:    prompt,
		MaxIterations: output.ValueOr(o.iterations, defaultIterations),
		NoProgress:    output.ValueOr(o.noProgress, defaultNoProgress),
		MaxTime:       ralph.Seconds(output.ValueOr(o.maxTime, 0)),
		MaxPerHour:    output.ValueOr(o.perHour, 0),
		Inactivity:    ralph.Seconds(output.ValueOr(o.inactivity, defaultInactivity)),
		DonePattern:   o.donePattern,
		DoneAtOnce:    o.donePattern != "" && o.atOnce && !o.notAtOnce,
		ReadyPattern:  o.readyPattern,
		Continue:      o.continues,
		MaxContext:    o.maxContext,
		Status:        ralph.Running,
		Started:       time.Now(),
		Iteration:     1,
		Durations:     []ralph.Seconds{},
	}
	if o.noRun {
		st.Status = ralph.Paused
	}
	return st, nil
}

func runSpawn(ctx context.Context, a *app.App, o *spawnOptions) error {
	output.FinishWriting()
	st, err := o.state()
	if err != nil {
		return err
	}
	if st.MaxIterations > defaultIterations {
		a.Warn(fmt.Sprintf("high iteration count (>%d) may consume significant resources", defaultIterations), "")
	}
	loaded, err := a.LoadProjectFor(o.Backend)
	if err != nil {
		return err
	}
	request, err := o.Request(ctx, loaded)
	if err != nil {
		return err
	}
	program, err := setup.Executable()
	if err != nil {
		return err
	}
	return a.With(ctx, loaded.Config, func(h *host.Host) error {
		here, err := h.RunsHere(ctx, request.Backend)
		if err == nil {
			err = agentOfLoop(a, h, o, here, &st, &request)
		}
		if err == nil && here {
			err = o.checkCommand(request.Dir)
		} else if err == nil {
			if o.ownTree {
				o.Workspace.Default, request.Workspace = false, nil // it runs elsewhere
			}
			err = o.carryAgent(program, &st, &request)
		}
		if err != nil {
			return err
		}
		request.Command, request.Shown = []string{program, "ralph", "run", o.Name}, st.Command
		request.Ralph = true
		request.Placed = func(dir string) { a.Hint(fmt.Sprintf("the agent of '%s' works in %s", o.Name, dir)) }
		// A worker without a terminal gets its input by a pipe.
		request.Stdin = request.Backend != app.BackendTmux
		worker, err := ralphStart(ctx, a, h, o, st, request)
		if err != nil && o.ownTree && request.Workspace != nil {
			return output.WithHint(err, "in a git repository a loop gets a worktree of its own; --no-worktree runs it in the working directory")
		}
		if err != nil {
			return err
		}
		switch {
		case o.JSON:
			return a.PrintJSON(view.WorkerJSONIn(a, worker))
		case o.foreground:
			a.Hint(fmt.Sprintf("spawned %s%s; an interrupt ends it", worker.Name, view.SpawnedWhere(worker)))
			return ralphFollow(ctx, a, h, worker.Name)
		}
		a.Printf("spawned %s%s [ralph mode: iteration 1/%d]\n\n%s",
			worker.Name, view.SpawnedWhere(worker), st.MaxIterations, output.Made(strings.ReplaceAll(ralphMonitor, "NAME", worker.Name)))
		if o.noRun {
			a.Hint(fmt.Sprintf("no iteration begins before 'swarm ralph resume %s'", worker.Name))
		}
		return nil
	})
}

// inRepository reports whether a directory, or one above it, is a git repository with
// files; empty: the working directory.
func inRepository(dir string) bool {
	dir, err := app.WorkingDir(dir)
	if err != nil {
		return false
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

const ralphMonitor = `Monitor:
  swarm ralph status NAME     how far it is
  swarm ralph logs NAME -f    what happened in each iteration
  swarm logs NAME -f          what the agent writes
  swarm ralph pause NAME      stop after this iteration
`

// checkCommand refuses a command that does not exist before anything is made. The loop
// looks for it again in each iteration.
func (o *spawnOptions) checkCommand(dir string) error {
	name := o.Command[0]
	switch {
	case strings.Contains(name, "/") && !filepath.IsAbs(name):
		if o.Workspace.Given() {
			return nil // it will be there
		}
		name = filepath.Join(dir, name)
	case strings.Contains(strings.Join(append([]string{""}, o.Env...), "\n"), "\nPATH="):
		return nil
	}
	if _, err := exec.LookPath(name); err != nil && !errors.Is(err, exec.ErrDot) {
		return workers.HintAtWords(fmt.Errorf("%w: command not found: %s", swarm.ErrInvalidSpec, o.Command[0]), o.Command)
	}
	return nil
}
