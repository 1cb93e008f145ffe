package workers

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/errtext"
)

type respawnOptions struct {
	cleanFirst bool
	forceDirty bool
	resume     resumption
	session    string
	json       bool
	// helper says that this process finishes a respawn that was requested from inside the
	// worker.
	helper bool
}

const (
	flagCleanFirst = "clean-first"
	flagForceDirty = "force-dirty"
	flagResume     = "resume"
	flagSession    = "session"
	flagHelper     = "helper"
)

func NewRespawn(a *app.App) *cobra.Command {
	o := &respawnOptions{}
	cmd := &cobra.Command{
		Use:   "respawn NAME",
		Short: "Start a worker again",
		Long: `Start a worker again as it was spawned: the same command, variables, tags,
directory, session and policies, in the same worktree, which is created again if it is
gone. A running worker is killed before. The worker keeps its name and gets a new id;
the history links both.

If the worker can't be started, its record is unchanged. With --clean-first its
worktree is removed and created anew; a worktree with changes is kept and the worker is
not touched, unless --force-dirty says to save the changes first.

With --resume a coding agent continues its conversation: it is started by the resume
command of its profile, with the options of its own command. The conversation is the
one that its hooks reported, that its command names, or that --session gives. An agent
that has none, because it was never given a prompt, is not touched; with --resume=auto
it starts anew. The call returns when the agent shows that it has resumed, and fails if
it ends instead. The next respawn without --resume runs its own command again.`,
		Example: `  swarm respawn agent
  swarm respawn fix --clean-first --force-dirty
  swarm respawn agent --resume
  swarm respawn agent --resume=auto
  swarm respawn agent --resume --session 0f3c1c52-9d1f-4b9a-a8a4-2f7e1d1f9c55`,
		Args:              command.Arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.forceDirty && !o.cleanFirst {
				return output.Usagef("--%s needs --%s", flagForceDirty, flagCleanFirst)
			}
			if cmd.Flags().Changed(flagSession) && !o.resume.on() {
				return output.Usagef("--%s needs --%s", flagSession, flagResume)
			}
			if o.helper {
				// Its end signals that the caller has its answer.
				_, err := app.Interruptibly(cmd.Context(), func() (int64, error) { return io.Copy(io.Discard, cmd.InOrStdin()) })
				if err != nil {
					return fmt.Errorf("cannot read stdin: %w", errtext.Cause(err))
				}
			}
			return runRespawn(cmd.Context(), a, args[0], o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.cleanFirst, flagCleanFirst, false, "remove its workspace before and create a new one")
	f.BoolVar(&o.forceDirty, flagForceDirty, false, "remove a workspace with uncommitted changes too, after saving them")
	f.Var(command.Parsed(&o.resume, "bool", parseResume), flagResume, "continue the agent's conversation; with =auto, start it anew if there is none")
	f.Lookup(flagResume).NoOptDefVal = resumeYes
	f.StringVar(&o.session, flagSession, "", "`ID` of the conversation (default: the one that the agent had)")
	f.BoolVar(&o.json, "json", false, "print the worker as JSON")
	f.BoolVar(&o.helper, flagHelper, false, "begin when stdin ends")
	f.Lookup(flagHelper).Hidden = true
	return cmd
}

// resumption says whether an agent continues with its conversation: not unless it is given.
type resumption string

const (
	resumeYes  = "true"
	resumeAuto = "auto"
)

func (f resumption) on() bool { return f == resumeYes || f == resumeAuto }

func parseResume(s string) (resumption, error) {
	if s != resumeYes && s != "false" && s != resumeAuto {
		return "", fmt.Errorf("must be %s, or given without a value", resumeAuto)
	}
	return resumption(s), nil
}

func runRespawn(ctx context.Context, a *app.App, name string, o *respawnOptions) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		answered := false
		starting, stop := startProgress(a, name, o.json)
		w, err := h.Spawn().Respawn(ctx, name, spawn.RespawnRequest{
			CleanFirst: o.cleanFirst,
			ForceDirty: o.forceDirty,
			Resume:     o.resume.on(),
			Anew:       o.resume == resumeAuto,
			Follow:     o.resume.on(),
			Session:    o.session,
			Warn:       func(w worker.Warning) { a.Warn(w.Text, w.Hint) },
			Progress:   starting,
			Notice:     a.Hint,
			Helper:     o.helperArgs(),
			Answer: func(w worker.Worker) {
				answered = true
				if o.json {
					_ = a.PrintJSON(view.WorkerJSONIn(a, w)) // a.out keeps the error
					return
				}
				a.Printf("respawning %s\n", w.Name)
			},
		})
		stop()
		switch kept, ok := errors.AsType[*spawn.KeptError](err); {
		case ok:
			a.Fail(err)
			a.Hint("worktree at: " + kept.Path)
			if kept.Kept.Forceable {
				a.Hint("use --force-dirty to remove anyway, or commit changes first")
			}
			return output.Failed
		case errors.Is(err, context.Canceled):
			a.Hint(fmt.Sprintf("interrupted; 'swarm status %s' shows how it is now", name))
			return err
		case err != nil || answered:
			return err
		case o.json:
			return a.PrintJSON(view.WorkerJSONIn(a, w))
		}
		a.Printf("respawned %s%s\n", w.Name, view.SpawnedWhere(w))
		return nil
	})
}

// helperArgs returns the arguments of a process that does the same from outside the worker.
func (o *respawnOptions) helperArgs() []string {
	args := []string{"respawn", "--" + flagHelper}
	if o.cleanFirst {
		args = append(args, "--"+flagCleanFirst)
	}
	if o.forceDirty {
		args = append(args, "--"+flagForceDirty)
	}
	if o.resume.on() {
		args = append(args, "--"+flagResume+"="+string(o.resume))
	}
	if o.session != "" {
		args = append(args, "--"+flagSession, o.session)
	}
	return args
}
