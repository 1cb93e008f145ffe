package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/swarm"
)

// call runs a command line as far as it gets without a host.
func call(args ...string) (code int, stdout, stderr string) {
	a, out, errs := apptest.New()
	root := newRoot(a, args...)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(context.Background())
	code = report(a, cmd, err)
	return code, out.String(), errs.String()
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code  int
		error string
		args  []string
	}{
		{2, "unknown flag: --foo\nswarm: run 'swarm --help' for usage", []string{"--foo"}},
		{2, "unknown flag: --foo\nswarm: run 'swarm kill --help' for usage", []string{"kill", "w", "--foo"}},
		{2, "unknown command 'kil'\nswarm: did you mean 'swarm kill'?", []string{"kil"}},
		{2, "unknown command 'config shwo'\nswarm: did you mean 'swarm config show'?", []string{"config", "shwo"}},
		{2, "unknown command 'frobnicate'\nswarm: run 'swarm --help' for usage", []string{"frobnicate"}},
		{2, "unknown command 'frobnicate'\nswarm: run 'swarm --help' for usage", []string{"help", "frobnicate"}},
		{2, "unknown command 'frobnicate'\nswarm: run 'swarm --help' for usage", []string{"frobnicate", "--help"}},
		{2, "unknown command 'team shwo'\nswarm: did you mean 'swarm team show'?", []string{"help", "team", "shwo"}},
		{2, "unknown command 'team shwo'\nswarm: did you mean 'swarm team show'?", []string{"team", "shwo", "-h"}},
		{2, "unknown command 'log'\nswarm: did you mean 'swarm logs'?", []string{"log"}},
		{2, "unknown command 'rm'\nswarm: did you mean 'swarm clean'?", []string{"rm", "w"}},
		{2, "unknown command 'htop'\nswarm: did you mean 'swarm top'?", []string{"htop"}},
		{2, "unknown command 'init'\nswarm: did you mean 'swarm config init'?", []string{"init"}},
		{2, "unknown command 'stop'\nswarm: did you mean 'swarm kill'?", []string{"stop"}},
		{2, "unknown command 'start'\nswarm: did you mean 'swarm spawn'?", []string{"start"}},
		{2, "unknown command 'restart'\nswarm: did you mean 'swarm respawn'?", []string{"restart"}},
		{2, "unknown command 'delete'\nswarm: did you mean 'swarm clean'?", []string{"delete"}},
		{2, "unknown command 'remove'\nswarm: did you mean 'swarm clean'?", []string{"remove"}},
		{2, "unknown command 'ps'\nswarm: did you mean 'swarm ls'?", []string{"ps"}},
		{2, "unknown command 'run'\nswarm: did you mean 'swarm spawn'?", []string{"run"}},
		{2, "unknown command 'kill-server'\nswarm: did you mean 'swarm kill --all'?", []string{"kill-server"}},
		{2, "unknown command 'team rm'\nswarm: did you mean 'swarm team delete'?", []string{"team", "rm", "web"}},
		{2, "unknown command 'task add'\nswarm: did you mean 'swarm task create'?", []string{"task", "add"}},
		{2, "unknown command 'config edit'\nswarm: did you mean 'swarm config init'?", []string{"config", "edit"}},
		{2, "unknown command 'agent rm'\nswarm: did you mean 'swarm agent kill'?", []string{"agent", "rm", "alice"}},
		{2, "unknown command 'plugin rmove'\nswarm: did you mean 'swarm plugin remove'?", []string{"plugin", "rmove"}},
		{1, "must specify worker name or --all", []string{"kill"}},
		{2, "must specify worker name, --all or --tag\nswarm: run 'swarm clean --help' for usage", []string{"clean"}},
		{2, "must specify worker name, --all or --tag\nswarm: run 'swarm wait --help' for usage", []string{"wait"}},
		{2, "must specify worker name, --all or --tag\nswarm: run 'swarm interrupt --help' for usage", []string{"interrupt"}},
		{2, "must specify worker name, --all or --tag\nswarm: run 'swarm pause --help' for usage", []string{"pause"}},
		{2, "must specify worker name, --all or --tag\nswarm: run 'swarm resume --help' for usage", []string{"resume"}},
		{2, "must specify worker name, --all or --tag\nswarm: run 'swarm update --help' for usage", []string{"update", "--memory", "1g"}},
		{2, "must specify --memory, --cpus, --pids, --nice or --io-weight\nswarm: run 'swarm update --help' for usage", []string{"update", "w"}},
		{2, "invalid value '1k' for --memory: expected a size such as 2g or 512MiB, of at least 1MiB\nswarm: run 'swarm update --help' for usage", []string{"update", "w", "--memory", "1k"}},
		{2, "invalid value '0' for --cpus: expected a number of CPUs from 0.01 to 10000, such as 1.5\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--cpus", "0"}},
		{2, "invalid value '20' for --nice: expected a number from -20 to 19, or none\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--nice", "20"}},
		{2, "invalid value 'some' for --limits: expected one of strict, best-effort\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--limits", "some"}},
		{2, "unknown command 'suspend'\nswarm: did you mean 'swarm pause'?", []string{"suspend"}},
		{2, "must specify worker name or --all\nswarm: run 'swarm adopt --help' for usage", []string{"adopt", "--backend", "b"}},
		{2, "must specify worker name or --all\nswarm: run 'swarm ralph clean --help' for usage", []string{"ralph", "clean"}},
		{2, "missing command: one of path, check, show, init, trust, schema\nswarm: run 'swarm config --help' for usage", []string{"config"}},
		{2, "missing command: one of list, info, docs, install, upgrade, verify, remove, prune, lock, index, search, new, check, debug, logs\nswarm: run 'swarm plugin --help' for usage", []string{"plugin"}},
		{2, "required flag --backend not set\nswarm: run 'swarm adopt --help' for usage", []string{"adopt", "--all"}},
		{2, "worker names and --all exclude each other\nswarm: run 'swarm adopt --help' for usage", []string{"adopt", "--backend", "b", "--all", "w"}},
		{2, "worker names and --all or --tag exclude each other\nswarm: run 'swarm kill --help' for usage", []string{"kill", "w", "--all"}},
		{2, "worker names and --all or --tag exclude each other\nswarm: run 'swarm kill --help' for usage", []string{"kill", "w", "--tag", "t"}},
		{2, "--all and --tag exclude each other\nswarm: run 'swarm kill --help' for usage", []string{"kill", "--all", "--tag", "t"}},
		{2, "--tag is empty\nswarm: run 'swarm kill --help' for usage", []string{"kill", "--tag="}},
		{2, "invalid value 'soon' for --timeout: expected a duration such as 90, 90s, 5m or 1h30m\nswarm: run 'swarm kill --help' for usage", []string{"kill", "w", "--timeout", "soon"}},
		{2, "invalid value '-1' for --timeout: expected a duration such as 90, 90s, 5m or 1h30m\nswarm: run 'swarm wait --help' for usage", []string{"wait", "w", "--timeout", "-1"}},
		{2, "invalid value 'SIGNOPE' for --signal: unknown signal \"SIGNOPE\" (try SIGTERM, SIGINT, SIGHUP or SIGKILL)\nswarm: run 'swarm kill --help' for usage", []string{"kill", "w", "--signal", "SIGNOPE"}},
		{2, "flag needs an argument: --tag\nswarm: run 'swarm kill --help' for usage", []string{"kill", "--tag"}},
		{2, "missing argument: name of a worker\nswarm: run 'swarm status --help' for usage", []string{"status"}},
		{2, "must specify worker name, --all or --tag\nswarm: run 'swarm logs --help' for usage", []string{"logs"}},
		{2, "worker names and --all or --tag exclude each other\nswarm: run 'swarm logs --help' for usage", []string{"logs", "w", "--tag", "t"}},
		{2, "--follow and --json exclude each other\nswarm: run 'swarm up --help' for usage", []string{"up", "--follow", "--json"}},
		{2, "--follow and --dry-run exclude each other\nswarm: run 'swarm up --help' for usage", []string{"up", "-f", "--dry-run"}},
		{2, "missing argument: name of a worker\nswarm: run 'swarm diff --help' for usage", []string{"diff"}},
		{2, "missing argument: name of saved work\nswarm: run 'swarm rescue drop --help' for usage", []string{"rescue", "drop", "--force"}},
		{2, "missing command: one of ls, show, restore, drop\nswarm: run 'swarm rescue --help' for usage", []string{"rescue"}},
		{2, "--run and --follow exclude each other\nswarm: run 'swarm logs --help' for usage", []string{"logs", "w", "--run", "1", "--follow"}},
		{2, "invalid value 'xml' for --format: expected one of table, json, names\nswarm: run 'swarm ls --help' for usage", []string{"ls", "--format", "xml"}},
		{2, "invalid value '-1' for --lines: expected a number from 0\nswarm: run 'swarm logs --help' for usage", []string{"logs", "w", "-n", "-1"}},
		{2, "invalid value 'x' for --json: expected true or false\nswarm: run 'swarm ls --help' for usage", []string{"ls", "--json=x"}},
		{2, "--format, --json and --quiet exclude each other\nswarm: run 'swarm ls --help' for usage", []string{"ls", "--json", "-q"}},
		{2, "--columns and --wide or --stats exclude each other\nswarm: run 'swarm ls --help' for usage", []string{"ls", "--wide", "--columns", "name"}},
		{2, "--wide, --stats and --columns are for the table for people: leave out --format, --json and --quiet\nswarm: run 'swarm ls --help' for usage", []string{"ls", "--wide", "--json"}},
		{2, "invalid value 'size' for --sort: expected one of cpu, mem, name, started, state\nswarm: run 'swarm ls --help' for usage", []string{"ls", "--sort", "size"}},
		{2, "missing argument: name of a worker\nswarm: run 'swarm show --help' for usage", []string{"show"}},
		{2, "expected the name of a worker, then -- and a command\nswarm: try 'swarm exec NAME -- COMMAND'", []string{"exec", "w", "ls"}},
		{2, "expected the name of a worker, then -- and a command\nswarm: try 'swarm exec NAME -- COMMAND'", []string{"exec", "w", "--"}},
		{2, "expected the name of a worker, then -- and a command\nswarm: try 'swarm exec NAME -- COMMAND'", []string{"exec", "--", "ls"}},
		{2, "missing arguments: source and a destination\nswarm: run 'swarm cp --help' for usage", []string{"cp", "w:file"}},
		{2, "expected a path in a worker, as NAME:PATH\nswarm: try 'swarm cp NAME:PATH DEST' or 'swarm cp SRC NAME:PATH'", []string{"cp", "file", "./w:file"}},
		{2, "cannot copy from one worker to another; copy to this machine first\nswarm: run 'swarm cp --help' for usage", []string{"cp", "w:file", "v:file"}},
		{2, "--json can't be used with a tar stream on stdout\nswarm: run 'swarm cp --help' for usage", []string{"cp", "--json", "w:file", "-"}},
		{2, "missing arguments: name of a worker and a port\nswarm: run 'swarm forward --help' for usage", []string{"forward", "w"}},
		{2, "invalid port '0': expected PORT or PORT:LOCAL, numbers up to 65535\nswarm: run 'swarm forward --help' for usage", []string{"forward", "w", "0"}},
		{2, "invalid port '80:': expected PORT or PORT:LOCAL, numbers up to 65535\nswarm: run 'swarm forward --help' for usage", []string{"forward", "w", "80:"}},
		{2, "invalid port '80:65536': expected PORT or PORT:LOCAL, numbers up to 65535\nswarm: run 'swarm forward --help' for usage", []string{"forward", "w", "22", "80:65536"}},
		{2, "invalid port 'http': expected PORT or PORT:LOCAL, numbers up to 65535\nswarm: run 'swarm forward --help' for usage", []string{"forward", "w", "http"}},
		{2, "invalid value '-1' for --lines: expected a number from 0\nswarm: run 'swarm show --help' for usage", []string{"show", "w", "--lines", "-1"}},
		{2, "unknown command 'inspect'\nswarm: did you mean 'swarm show'?", []string{"inspect"}},
		{2, "invalid value 'red' for --color: expected one of auto, always, never\nswarm: run 'swarm ls --help' for usage", []string{"ls", "--color", "red"}},
		{2, "unexpected argument 'w'\nswarm: the history of one worker: swarm events --worker w", []string{"events", "w"}},
		{2, "--worker is empty\nswarm: run 'swarm events --help' for usage", []string{"events", "--worker="}},
		{2, "invalid value 'soon' for --since: expected a duration such as 90, 90s, 5m or 1h30m\nswarm: run 'swarm events --help' for usage", []string{"messages", "--since", "soon"}},
		{2, "invalid value '-1' for --lines: expected a number from 0\nswarm: run 'swarm events --help' for usage", []string{"events", "-n", "-1"}},
		{2, "unexpected argument 'w'\nswarm: run 'swarm watch --help' for usage", []string{"watch", "w"}},
		{2, "invalid value 'cron' for --print-service: expected one of systemd, launchd\nswarm: run 'swarm watch --help' for usage", []string{"watch", "--print-service", "cron"}},
		{2, "unexpected argument 'w'\nswarm: run 'swarm run-hook --help' for usage", []string{"run-hook", "w"}},
		{2, "unexpected argument 'w'\nswarm: run 'swarm gc --help' for usage", []string{"gc", "w"}},
		{2, "--marked and worker names, --all or --tag exclude each other\nswarm: run 'swarm resurrect --help' for usage", []string{"resurrect", "--marked", "w"}},
		{2, "worker names and --all or --tag exclude each other\nswarm: run 'swarm resurrect --help' for usage", []string{"resurrect", "--all", "w"}},
		{2, "invalid value 'maybe' for --resurrect: expected true or false\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--resurrect=maybe", "--", "true"}},
		{2, "unexpected argument 'tests'\nswarm: the summary is one argument: swarm complete \"SUMMARY\"", []string{"complete", "all", "tests"}},
		{2, "missing argument: a plugin or an archive\nswarm: run 'swarm plugin install --help' for usage", []string{"plugin", "install"}},
		{2, "invalid value 'ab' for --sha256: expected 64 hexadecimal digits, as sha256sum prints them\nswarm: run 'swarm plugin install --help' for usage", []string{"plugin", "install", "x", "--sha256", "ab"}},
		{2, "missing argument: a plugin\nswarm: run 'swarm plugin info --help' for usage", []string{"plugin", "info"}},
		{2, "unexpected argument 'b'\nswarm: run 'swarm plugin verify --help' for usage", []string{"plugin", "verify", "a", "b"}},
		{2, "missing version in 'a@'\nswarm: run 'swarm plugin remove --help' for usage", []string{"plugin", "remove", "a@"}},
		{2, "'a@1' names one version, --all means all\nswarm: run 'swarm plugin remove --help' for usage", []string{"plugin", "remove", "a@1", "--all"}},
		{2, "required flag --name not set\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--", "true"}},
		{2, "no command provided (use -- command...)\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--name", "w"}},
		{2, "no command provided (use -- command...)\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--name", "w", "--"}},
		{2, "no command provided (use -- command...)\nswarm: the command and its flags come after '--': swarm spawn … -- sleep 600 …", []string{"spawn", "--name", "w", "sleep", "600"}},
		{2, "unknown shorthand flag: 'm' in -m\nswarm: the command and its flags come after '--': swarm spawn … -- python …", []string{"spawn", "--name", "w", "python", "-m", "http.server"}},
		{2, "unknown flag: --foo\nswarm: the command and its flags come after '--': swarm ralph spawn … -- 'a b' …", []string{"ralph", "spawn", "--name", "w", "a b", "--foo"}},
		{2, "unexpected argument 'x' before --\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--name", "w", "x", "--", "true"}},
		{2, "invalid worker name 'a/b': use letters, digits, '.', '_' and '-', beginning with a letter or digit, at most 64\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--name", "a/b", "--", "true"}},
		{2, "invalid worker name '-a': use letters, digits, '.', '_' and '-', beginning with a letter or digit, at most 64\nswarm: run 'swarm ralph spawn --help' for usage", []string{"ralph", "spawn", "--name=-a", "--prompt-file", "p", "--", "true"}},
		{1, "invalid env format 'X' (expected KEY=VAL)", []string{"spawn", "--name", "w", "--env", "X", "--", "true"}},
		{1, "invalid env format '=X' (expected KEY=VAL)", []string{"spawn", "--name", "w", "--env", "=X", "--", "true"}},
		{2, "--tmux and --backend process exclude each other\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--name", "w", "--tmux", "--backend", "process", "--", "true"}},
		{2, "--stdin is for workers without a terminal: one in tmux takes input anyway, with 'swarm send w'\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--name", "w", "--tmux", "--stdin", "--", "true"}},
		{2, "must specify worker name, --all or --tag\nswarm: run 'swarm peek --help' for usage", []string{"peek"}},
		{2, "worker names and --all or --tag exclude each other\nswarm: run 'swarm stats --help' for usage", []string{"stats", "w", "--all"}},
		{2, "--no-rm-worktree and --force-dirty exclude each other\nswarm: run 'swarm clean --help' for usage", []string{"clean", "w", "--no-rm-worktree", "--force-dirty"}},
		{2, "missing command: one of spawn, status, ls, pause, resume, stop, logs, clean, init, template\nswarm: run 'swarm ralph --help' for usage", []string{"ralph"}},
		{2, "--branch needs --worktree or --workspace\nswarm: run 'swarm spawn --help' for usage", []string{"spawn", "--name", "w", "--branch", "b", "--", "true"}},
		{2, "missing command: one of create, show, ls, delete\nswarm: run 'swarm team --help' for usage", []string{"team"}},
		{2, "unknown command 'agent klil'\nswarm: did you mean 'swarm agent kill'?", []string{"agent", "klil"}},
		{2, "missing argument: name of the team\nswarm: run 'swarm team create --help' for usage", []string{"team", "create"}},
		{2, "unexpected argument 'b'\nswarm: run 'swarm team create --help' for usage", []string{"team", "create", "a", "b"}},
		{2, "--server needs a command (use -- command...)\nswarm: run 'swarm team create --help' for usage", []string{"team", "create", "a", "--server"}},
		{2, "a command needs --server\nswarm: run 'swarm team create --help' for usage", []string{"team", "create", "a", "--", "true"}},
		{2, "missing argument: name of a team\nswarm: run 'swarm team delete --help' for usage", []string{"team", "delete"}},
		{2, "invalid value '' for --team: expected the name of a team\nswarm: run 'swarm agent ls --help' for usage", []string{"agent", "ls", "--team="}},
		{2, "invalid value '' for --session: expected a label, or the pid of a process\nswarm: run 'swarm tasks --help' for usage", []string{"tasks", "--session="}},
		{2, "invalid value '' for --session: expected a label, or the pid of a process\nswarm: run 'swarm tool call --help' for usage", []string{"tool", "call", "KillShell", "--session", ""}},
		{2, "unexpected argument 'x' before --\nswarm: run 'swarm agent spawn --help' for usage", []string{"agent", "spawn", "--team", "t", "x", "--", "true"}},
		{2, "unexpected argument 'x' before --\nswarm: the command and its flags come after '--': swarm agent spawn … -- x …", []string{"agent", "spawn", "--team", "t", "x"}},
		{2, "invalid value 'boss' for --role: expected one of worker, reviewer, leader\nswarm: run 'swarm agent spawn --help' for usage", []string{"agent", "spawn", "--role", "boss", "--", "true"}},
		{2, "missing argument: id or name of an agent\nswarm: run 'swarm agent kill --help' for usage", []string{"agent", "kill", "--team", "t"}},
		{2, "--timeout needs --wait\nswarm: run 'swarm agent kill --help' for usage", []string{"agent", "kill", "a", "--team", "t", "--timeout", "3"}},
		{2, "the agent is empty\nswarm: run 'swarm agent status --help' for usage", []string{"agent", "status", ""}},
		{2, "unexpected argument 'b'\nswarm: run 'swarm agent status --help' for usage", []string{"agent", "status", "a", "b"}},
		{2, "missing argument: title of the task\nswarm: run 'swarm task create --help' for usage", []string{"task", "create"}},
		{2, "unexpected argument 'the'\nswarm: the title is one argument: swarm task create \"TITLE\"", []string{"task", "create", "write", "the", "parser"}},
		{2, "invalid value 'urgent' for --priority: expected one of high, normal, low\nswarm: run 'swarm task create --help' for usage", []string{"task", "create", "x", "--priority", "urgent"}},
		{2, "missing arguments: id of a task and its new status\nswarm: run 'swarm task update --help' for usage", []string{"task", "update", "task-1"}},
		{2, "unknown status 'done' (expected one of pending, in_progress, completed)\nswarm: run 'swarm task update --help' for usage", []string{"task", "update", "task-1", "done"}},
		{2, "invalid value 'done' for --status: expected one of pending, in_progress, completed\nswarm: run 'swarm task ls --help' for usage", []string{"task", "ls", "--status", "done"}},
		{2, "missing argument: the receiver\nswarm: run 'swarm inbox send --help' for usage", []string{"inbox", "send"}},
		{2, "missing argument: the message, or --stdin\nswarm: run 'swarm inbox send --help' for usage", []string{"inbox", "send", "a"}},
		{2, "unexpected argument 'you'; a message of several words needs quotes\nswarm: run 'swarm inbox send --help' for usage", []string{"inbox", "send", "a", "hello", "you"}},
		{2, "a message and --stdin exclude each other\nswarm: run 'swarm inbox send --help' for usage", []string{"inbox", "send", "a", "hello", "--stdin"}},
		{2, "invalid value 'soon' for --timeout: expected a duration such as 90, 90s, 5m or 1h30m\nswarm: run 'swarm inbox wait --help' for usage", []string{"inbox", "wait", "--timeout", "soon"}},
		{2, "invalid value 'asleep' for --status: expected one of active, idle\nswarm: run 'swarm heartbeat --help' for usage", []string{"heartbeat", "--status", "asleep"}},
		{2, "unexpected argument 'x'\nswarm: run 'swarm shutdown approve --help' for usage", []string{"shutdown", "approve", "x"}},
		{2, "unexpected argument 'busy'\nswarm: the reason is one argument: swarm shutdown reject \"REASON\"", []string{"shutdown", "reject", "still", "busy"}},
		{2, "unexpected argument 'x'\nswarm: run 'swarm tasks --help' for usage", []string{"tasks", "x"}},
		{2, "unexpected argument 'x'\nswarm: run 'swarm mcp --help' for usage", []string{"mcp", "x"}},
		{2, "unexpected argument 'x'\nswarm: run 'swarm top --help' for usage", []string{"top", "x"}},
		{2, "unexpected argument 'x'\nswarm: run 'swarm web --help' for usage", []string{"web", "x"}},
		{2, "--cert and --key belong together\nswarm: run 'swarm web --help' for usage", []string{"web", "--cert", "x"}},
		{2, "--socket and --listen exclude each other\nswarm: run 'swarm web --help' for usage", []string{"web", "--socket", "x", "--listen", "localhost:0"}},
		{2, "--socket and --cert exclude each other\nswarm: run 'swarm web --help' for usage", []string{"web", "--socket", "x", "--cert", "x", "--key", "x"}},
		{2, "unknown shell 'tcsh' (expected bash, zsh or fish)\nswarm: run 'swarm completion --help' for usage", []string{"completion", "tcsh"}},
	} {
		code, stdout, stderr := call(c.args...)
		if want := "swarm: error: " + c.error + "\n"; code != c.code || stderr != want || stdout != "" {
			t.Errorf("swarm %q: exit code %d, stdout %q, stderr\n%swant %d and\n%s", c.args, code, stdout, stderr, c.code, want)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{nil, 0, ""},
		{errors.New("a"), 1, "swarm: error: a\n"},
		{&store.NotFoundError{Name: "ghost"}, 1, "swarm: error: worker 'ghost' not found\n"},
		{fmt.Errorf("%w: command not found: x", swarm.ErrInvalidSpec), 1, "swarm: error: command not found: x\n"},
		{errors.Join(errors.New("a"), errors.New("b")), 1, "swarm: error: a\nswarm: error: b\n"},
		{wrapsNothing{}, 1, "swarm: error: a plugin's own\n"},
		{errors.Join(wrapsNothing{}, nil), 1, "swarm: error: a plugin's own\n"},
		{errors.Join(&output.CodeError{Code: 3}, nil), 3, ""},
		{&output.CodeError{Code: 2, Err: errors.New("a")}, 2, "swarm: error: a\n"},
		{
			config.Problems{{At: config.Position{File: "f", Line: 1, Column: 2}, Key: "k", Text: "a"}, {At: config.Position{File: "f"}, Text: "b"}},
			1, "swarm: error: f:1:2: k: a\nswarm: error: f: b\n",
		},
	} {
		a, _, stderr := apptest.New()
		if code := report(a, &cobra.Command{}, c.err); code != c.code || stderr.String() != c.want {
			t.Errorf("%v: exit code %d and %q, want %d and %q", c.err, code, stderr, c.code, c.want)
		}
	}
}

// wrapsNothing is like an error of a plugin that the contract does not define.
type wrapsNothing struct{}

func (wrapsNothing) Error() string   { return "a plugin's own" }
func (wrapsNothing) Unwrap() []error { return nil }

func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	a, _, stderr := apptest.New()
	a.Out = &output.Stream{W: broken{}}
	a.Printf("a")
	a.Printf("b")
	for _, err := range []error{nil, output.Failed, &output.CodeError{Code: 3}, fmt.Errorf("x: %w", io.ErrShortWrite)} {
		stderr.Reset()
		if code := report(a, &cobra.Command{}, err); code != 1 || stderr.String() != "swarm: error: cannot write the output: short write\n" {
			t.Errorf("%v: exit code %d, stderr %q", err, code, stderr)
		}
	}
}

func TestInterruptionIsWhatEndsAContext(t *testing.T) {
	t.Parallel()
	if err := fmt.Errorf("wait: %w", signalError{syscall.SIGINT}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not %v", err, context.Canceled)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// Help has to be there for everything, and to say more of what is done to workers.
func TestEveryVerbHasHelp(t *testing.T) {
	t.Parallel()
	a, _, _ := apptest.New()
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Parent() == cmd.Root() && cmd.GroupID == "" {
			t.Errorf("%s: no short text or no group", cmd.CommandPath())
		}
		if cmd.GroupID != groupSystem && cmd.GroupID != groupTopics && cmd.HasParent() && cmd.Parent() == cmd.Root() && (cmd.Long == "" || cmd.Example == "") {
			t.Errorf("%s: no long text or no example", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	root := newRoot(a)
	for _, verb := range root.Commands() {
		check(verb)
	}
	for _, g := range root.Groups() {
		if !slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.GroupID == g.ID }) {
			t.Errorf("the group '%s' has no commands", g.Title)
		}
	}
}

// Every verb that prints workers or changes them can print JSON for programs.
func TestEveryVerbHasJSON(t *testing.T) {
	t.Parallel()
	a, _, _ := apptest.New()
	without := []string{
		"swarm attach", "swarm ralph run", "swarm ralph far", "swarm ralph template", "swarm ralph init",
		"swarm mcp", "swarm tool schema", "swarm skill", "swarm notifier", "swarm run-hook", "swarm hook", "swarm integrate", "swarm top",
	}
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		if !cmd.HasSubCommands() && cmd.Flags().Lookup("json") == nil && !slices.Contains(without, cmd.CommandPath()) {
			t.Errorf("%s has no --json", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	for _, verb := range newRoot(a).Commands() {
		if verb.GroupID != groupSystem && verb.GroupID != groupTopics {
			check(verb)
		}
	}
}

// A call makes the verb that it names and no other; any other call makes all.
func TestVerbsAreMadeByName(t *testing.T) {
	t.Parallel()
	a, _, _ := apptest.New()
	all := len(verbs())
	for _, v := range verbs() {
		made := newRoot(a, v.name, "x").Commands()
		if len(made) != 1 || made[0].Name() != v.name {
			t.Errorf("%s: made %d commands, the first is %s", v.name, len(made), made[0].Name())
		}
	}
	for _, args := range [][]string{nil, {"--version"}, {"help", "kill"}, {"nosuch"}, {"__complete", "kill", ""}} {
		if made := len(newRoot(a, args...).Commands()); made != all {
			t.Errorf("%q: made %d of %d commands", args, made, all)
		}
	}
}

// The path of a command is the path of its package: a group of verbs is in the package
// of its name.
func TestGroupsArePackages(t *testing.T) {
	t.Parallel()
	a, _, _ := apptest.New()
	groups := 0
	for _, v := range verbs() {
		if !v.make(a).HasSubCommands() {
			continue
		}
		groups++
		made := runtime.FuncForPC(reflect.ValueOf(v.make).Pointer()).Name()
		if want := "/cmd/swarm/internal/" + v.name + ".New"; !strings.HasSuffix(made, want) {
			t.Errorf("'swarm %s' is made by %s, want %s", v.name, made, want)
		}
	}
	if groups < 9 {
		t.Errorf("found only %d groups", groups)
	}
}

// TestVerbsOfOtherTools types verbs of docker, kubectl, systemctl, pm2, tmux, git and gh: the error
// names a command that exists, or the help where nothing is like it.
func TestVerbsOfOtherTools(t *testing.T) {
	t.Parallel()
	const none = "run 'swarm --help' for usage"
	for word, want := range map[string]string{
		"server": "web", "checkout": "help worktrees", "rebase": "help worktrees", "jobs": "ls",
		"ps": "ls", "rm": "clean", "bash": "exec", "stop": "kill", "start": "spawn", "inspect": "show",
		"log": "logs", "restart": "respawn", "prune": "clean --all", "pull": "help worktrees", "push": "help worktrees",
		"create": "spawn", "new": "spawn", "delete": "clean", "run": "spawn", "cd": "show",
		"commit": "help worktrees", "worktree": "help worktrees", "branch": "help worktrees", "stash": "help worktrees",
		"compose": "up", "apply": "up", "scale": "up", "get": "ls", "describe": "show", "rollout": "respawn",
		"enable": "watch --print-service", "startup": "watch --print-service", "daemon": "watch --print-service",
		"is-active": "status", "journalctl": "logs", "monit": "top", "fg": "attach", "bg": "resume", "nohup": "spawn",
		"new-session": "spawn --tmux", "sessions": "ls", "detach": "attach", "choose-tree": "top", "send-keys": "send",
		"cat": "logs", "ssh": "attach", "check": "doctor", "validate": "config check", "submit": "spawn",
		"scp": "cp", "tunnel": "forward", "rename": "", "mask": "", "gist": "", "port": "", "volume": "", "login": "",
	} {
		hint := none
		if want != "" {
			hint = "did you mean 'swarm " + want + "'?"
		}
		code, _, stderr := call(word)
		if wanted := "swarm: error: unknown command '" + word + "'\nswarm: " + hint + "\n"; code != 2 || stderr != wanted {
			t.Errorf("%s: code %d, %q, want %q", word, code, stderr, wanted)
		}
		if want == "" {
			continue
		}
		a, _, _ := apptest.New()
		args := strings.Fields(strings.TrimPrefix(want, "help "))
		if cmd, rest, err := newRoot(a, args...).Find(args); err != nil || cmd.Name() != args[len(args)-len(rest)-1] {
			t.Errorf("%s: %q is not a command: %v", word, want, err)
		}
	}
}
