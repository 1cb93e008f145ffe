package integrate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/integration"
	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/safetext"
)

// notesFile is the file in the state directory that records the changes of clients' files.
const notesFile = "integrations.json"

// clientLimit is how long a client's own command may take.
const clientLimit = time.Minute

func NewIntegrate(a *app.App, tree func() *cobra.Command) *cobra.Command {
	var dryRun, remove, allowTools, answers bool
	names := integration.Names()
	cmd := &cobra.Command{
		Use:   "integrate CLIENT",
		Short: "Set up a coding agent to use swarm, or undo that",
		Long: `Add to your configuration of a coding agent (` + strings.Join(names, ", ") + `)
everything that it needs to use swarm: the MCP server, hooks that report to swarm what
the agent does and deliver waiting messages and tasks, and the skill that teaches it
the commands.

Each change is shown as a diff, or as the agent's own command that makes the change.
Everything else in the files is unchanged: comments, order, other servers and hooks.
Links are followed, and a file of another user is refused. A second call finds nothing
to do, or adds what is missing.

--allow-tools also allows the agent to use swarm's harmless tools without asking: those
that only read, and those by which a member of a team reads and sends messages and works on
tasks. Tools that run commands, or that start, end or answer something, are asked for as
before.

With --answers the hook that reports a question waits up to 10 minutes for an answer by
'swarm answer', the web page, 'swarm top', a tool or your [[answers]], and returns it to
the agent, so that nothing is typed. Without an answer in time the agent asks on its
screen. --answers=false turns that off again. Only claude, codex and qwen have such hooks.

--remove takes all of it out again. A file that has not changed since is then the same
as before, to the byte.`,
		Example: `  swarm integrate claude --dry-run
  swarm integrate claude
  swarm integrate claude --allow-tools --dry-run
  swarm integrate codex --remove`,
		Args:      command.Arguments(1, 1, "name of a coding agent ("+strings.Join(names, ", ")+")"),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			client := integration.Named(args[0])
			if client == nil {
				return output.Usagef("unknown coding agent '%s': expected %s", args[0], strings.Join(names, ", "))
			}
			o := integrateOptions{dryRun: dryRun, remove: remove, allowTools: allowTools}
			if cmd.Flags().Changed("answers") {
				o.answers = &answers
			}
			return runIntegrate(cmd.Context(), a, client, tree, o)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&allowTools, "allow-tools", false, "allow the agent to use swarm's harmless tools without asking")
	cmd.Flags().BoolVar(&answers, "answers", false, "have the agent's questions answered through its hook, by swarm alone")
	cmd.Flags().BoolVar(&remove, "remove", false, "undo it")
	return cmd
}

// integrateOptions are the flags of an integration.
type integrateOptions struct {
	dryRun, remove, allowTools bool
	// answers is nil if the flag is not given.
	answers *bool
}

func runIntegrate(ctx context.Context, a *app.App, client *integration.Client, tree func() *cobra.Command, o integrateOptions) error {
	if o.answers != nil && *o.answers && !client.Decides() {
		return output.Usagef("%s has no hook that can answer its questions: leave out --answers", client.Title)
	}
	dir, err := a.StateDir()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, notesFile)
	s, err := integrationSetup(a, path, tree())
	if err != nil {
		return err
	}
	s.Remove, s.AllowTools, s.Tools, s.Answers = o.remove, o.allowTools && !o.remove, harmlessTools(), o.answers
	changes, err := client.Changes(s)
	if program, ok := errors.AsType[*integration.ProgramError](err); ok {
		return output.WithHint(err, fmt.Sprintf("install %s, or put the directory of '%s' into PATH", client.Title, program.Program))
	}
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		a.Printf("nothing to do: %s\n", map[bool]string{false: client.Title + " uses swarm", true: client.Title + " does not use swarm"}[o.remove])
		return nil
	}
	for _, c := range changes {
		if c.Command != nil {
			a.Printf("$ %s\n", strings.Join(c.Command, " "))
		} else {
			a.Printf("%s", output.Made(safetext.Block(c.Diff())))
		}
	}
	if o.dryRun || a.Out.Err != nil {
		return a.Out.Err
	}
	ctx, cancel := context.WithTimeout(ctx, clientLimit)
	defer cancel()
	for _, c := range changes {
		if err = s.Apply(ctx, c); err != nil {
			break
		}
	}
	if err := errors.Join(err, s.Notes.Write(path)); err != nil {
		return err
	}
	if o.remove {
		a.Printf("%s does not use swarm any more\n", client.Title)
		return nil
	}
	a.Printf("%s uses swarm from its next session on\n", client.Title)
	a.Hint(client.Hint)
	return nil
}

// ofMembers are the tools that change nothing but the messages and tasks of the caller's team,
// and by which an agent ends itself.
var ofMembers = []string{
	"heartbeat", "send-message", "read-messages", "respond-shutdown", "task-create", "task-claim", "task-update",
}

// harmlessTools returns the names of the tools that --allow-tools allows.
func harmlessTools() (names []string) {
	for _, t := range tool.All() {
		if t.ReadOnly || slices.Contains(ofMembers, t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

func integrationSetup(a *app.App, notes string, root *cobra.Command) (s integration.Setup, err error) {
	if s.Swarm, err = ownCommand(); err != nil {
		return s, err
	}
	if s.Skill, err = Skill(root); err != nil {
		return s, err
	}
	if s.Notes, err = integration.ReadNotes(notes); err != nil {
		return s, err
	}
	profiles, err := a.ProfileDirs().Load()
	if err != nil {
		a.Warn(err.Error(), "")
	}
	s.Pass = []string{"TMUX_TMPDIR"}
	for _, p := range profiles.All() {
		s.Pass = append(s.Pass, p.Env()...)
	}
	slices.Sort(s.Pass)
	s.Pass = slices.Compact(s.Pass)
	for _, kv := range a.Env {
		name, _, _ := strings.Cut(kv, "=")
		s.Environ = append(s.Environ, name)
	}
	s.Getenv, s.ConfigFile = a.Getenv, config.UserFile(a.Getenv)
	return s, nil
}

// ownCommand returns the absolute path by which clients call swarm: clients start servers
// and hooks with an environment of their own, in which PATH may lead elsewhere. A
// directory of PATH is taken before the place where the program really is, which may have
// the version in its name.
func ownCommand() (string, error) {
	program, err := setup.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath(filepath.Base(program))
	if err != nil {
		return program, nil //nolint:nilerr // it is not on PATH
	}
	a, errA := os.Stat(program)
	b, errB := os.Stat(found)
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		return program, nil //nolint:nilerr // another one is on PATH
	}
	return filepath.Abs(found)
}
