// Package topics holds the pages of the help that are about more than one command. A
// topic is a command that does nothing: 'swarm help TOPIC' prints its text.
package topics

import "github.com/spf13/cobra"

type Topic struct{ name, short, text string }

// The topics, named for what they are about.
var (
	Selection   = Topic{"selection", "How commands choose workers", selection}
	ExitCodes   = Topic{"exit-codes", "The meaning of the exit codes", exitCodes}
	Environment = Topic{"environment", "Variables that swarm reads and sets", environment}
	Worktrees   = Topic{"worktrees", "Where worktrees are, and when they are removed", worktrees}
	Files       = Topic{"files", "The state directory and the config files", files}
)

// Command returns the topic as a command for the help.
func (t Topic) Command() *cobra.Command {
	return &cobra.Command{Use: t.name, Short: t.short, Long: t.text}
}

const selection = `Commands that work on workers that exist choose them in one of three ways:

  NAME...     by name, or by the full id that 'swarm ls --json' shows
  --all       all workers
  --tag TAG   the workers with this tag

They exclude each other. If no worker has one of the names, that is an error and nothing
is done. It is not an error if --all or --tag match no worker, so a script may say
'swarm kill --all' at any time.

Each selected worker is dealt with by itself: if one fails, the others are still done,
the error names the one that failed, and the exit code is 1.

Names have letters, digits, dots, dashes and underscores, and at most 64 characters. A
name is free again when its worker has been removed with 'swarm clean'.

'swarm ls --format names' prints names for other programs, and --json prints everything.
`

const exitCodes = `Every command exits with one of these:

  0     done
  1     an error; stderr says which, after "swarm: error:"
  2     wrong usage; nothing was done
  130   ended by Ctrl-C; 143: ended by SIGTERM

Some commands answer with their exit code:

  status       0 running, 1 ended, 2 no such worker, 3 anything else
  wait         one worker: its own code; 128+N if signal N ended it; 125 if its exit
               can't be known. Several: 0 if all exited with 0, else 1.
               124 if --timeout has run out
  send --wait  0 idle, 3 it asks, 4 it is limited, 5 it is broken, 6 it has ended,
               7 it did not begin, 124 if --wait-timeout has run out
  inbox wait   0 a message has come, 124 if the time has run out
  tool call    0 the answer says success, 1 it does not, 2 the input was wrong
  top, web, mcp
               0 also if a signal ended them
  doctor       0 all is well, 1 something was found
  config check, plugin check, plugin verify
               0 nothing was found, 1 something was found

The exit code of a worker is always the real one, also long after its end and if no command
watched. If it can't be known, the worker is "lost".
`

const environment = `Variables that swarm reads:

  SWARM_DIR         the state directory, an absolute path (default: ~/.swarm)
  SWARM_LOG         what to log on stderr: trace, debug, info, warn, error (default: off)
  SWARM_LOG_PLUGIN  what single plugins log there, whatever SWARM_LOG is, such as
                    tmux=trace,ssh=debug; 'swarm plugin logs' shows what was said before
  NO_COLOR          if it is set, nothing is printed in colour
  CLICOLOR_FORCE    if it is set and not 0, and NO_COLOR is not, everything is printed in
                    colour; else TERM=dumb and CLICOLOR=0 switch colour off. By default
                    a terminal gets colours, a pipe gets none. The flag --color, which
                    every command takes, overrides all of them
  LC_ALL, LC_CTYPE, LANG
                    if the first one that is set names no UTF-8 locale, symbols are ASCII
  XDG_CONFIG_HOME   where swarm/config.toml is (default: ~/.config)
  TMUX_TMPDIR       where the sockets of tmux are, as for tmux itself

Variables that a worker finds, in addition to the environment of the call that spawned it:

  SWARM_WORKER      its name
  SWARM_WORKER_ID   its id
  SWARM_DIR         the state directory, so that swarm works inside it

An agent of a team also finds:

  SWARM_TEAM        its team
  SWARM_AGENT_ID    its id in the team
  SWARM_TOKEN       the proof that it is this agent; no other worker gets it

A command of [hooks] finds SWARM_DIR and few others of the environment of the watch, and:

  SWARM_HOOK            the name of the hook
  SWARM_EVENT_ID        the event, the same in each run for it
  SWARM_EVENT_KIND      its kind, such as FAILED
  SWARM_EVENT_WORKER    the name of the worker
  SWARM_EVENT_ATTEMPT   how often the command was run for this event, from 1

Variables of the worker: --env KEY=VAL and --env-file FILE of 'swarm spawn'. Agents that
are spawned through an MCP client with a bare environment get variables from the table
[env] of your config file; docs/config.md has an example.
`

const worktrees = `With --worktree a worker runs in a git worktree of its own, on a branch of its own:

  where    REPOSITORY-worktrees/NAME next to the repository, or DIR/NAME with
           --worktree-dir DIR
  branch   NAME, or --branch BRANCH. It is created at the commit that is checked out
           where you call; a branch that exists is used as it is, and a BRANCH that
           only a remote has begins there and follows it
  inside   with --cwd DIR, the same directory of the new worktree, else its top

The repository may be a bare one. Its hooks, such as post-checkout, do not run when swarm
makes or removes a worktree; git of yours and of the worker runs them as usual. If a hook
sets up dependencies, let the worker's command do it: -- sh -c 'make setup && exec claude'.

The worktree is removed by 'swarm clean', and by 'swarm kill --rm-worktree' once no
process of the worker remains. It is kept if work could be lost: uncommitted changes and
untracked files, an unfinished merge or rebase, work in submodules, a lock, or a process
that works in it. A warning says which. Commits are safe in any case, since the branch
stays. A worktree that you move yourself is yours: it stays, and the warning names its new
place if that is near the old one or the repository.

With --force-dirty a worktree with uncommitted changes is removed too. The index, the
changes and the untracked files are saved before, below refs/swarm/rescue in the
repository; what git can't hold, such as a file .GIT/notes, is in an archive there.
Before the worktree goes, the saved work is on the disk and was compared with the files.
If a file can't be saved, the worktree stays, and the warning names the file. Sockets and
the contents of ignored directories are not saved. Empty directories and FIFOs come back,
but do not count as work. 'swarm rescue' lists, restores and drops what was saved.

'swarm diff' shows what the work in a worktree has changed. swarm merges nothing: the branch
is one of your repository, so that 'git merge BRANCH' there takes its commits, and
'swarm show NAME' prints the directory of the worktree.

With --workspace copy, or where defaults.workspace of the config is "copy", a worker runs in
a copy of its directory, which need not be a repository: DIRECTORY-copies/NAME next to it.
The copy is kept if a file in it has changed; --force-dirty saves the changed files first.

No branch with commits of its own is ever deleted. A branch that a failed spawn has just
created is removed again.

A worker of the backend ssh has its worktree on its own host, of a repository there that
--cwd names.
`

const files = `The state directory is ~/.swarm, or the absolute path in $SWARM_DIR:

  swarm.db        the workers, teams and tasks, and the history (SQLite)
  workers/ID/     what the shim of a worker writes: its status and its output
  plugins/        plugins that were installed with 'swarm plugin install'
  plugin-indexes/ indexes that were added with 'swarm plugin index add'
  profiles.tar    profiles of agents that were installed with 'swarm profiles update'
  journal/        ends of workers that no command has recorded yet
  locks/          locks of workers that a command works on
  engine.key      a secret by which servers that plugins start prove that they do not belong
                  to the worker in which you called
  rescues         the repositories in which work of removed worktrees was saved

Only its owner may be able to write to it, and to the directories above it. Each command
refuses anything else: run 'sudo -H swarm', not 'sudo swarm', for the workers of root.
'swarm doctor' checks it and says how to repair what is wrong.

The config files are both optional, and both TOML:

  ~/.config/swarm/config.toml   how you like your workers, everywhere
  swarm.toml                    a project: its workers, and what is different there;
                                the nearest one above the working directory

The project's file takes precedence, key by key, and flags take precedence over both.
'swarm config init' writes a commented file, 'swarm config show' says what holds here.
`
