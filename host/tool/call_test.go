package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// newCrew returns a world with two teams: t, one of whose agents has ended, and u.
func newCrew(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, filepath.Join(t.TempDir(), "w"))
	w.addAgent(t, "agent-mate", "mate's")
	w.addAgent(t, "agent-gone", "gone's")
	w.change(t, func(ctx context.Context, tx *registry.Tx) error {
		now := time.Now()
		_, err := team.Release(ctx, tx, "agent-gone", team.Departure{Phase: registry.ShutdownForceKilled}, now)
		if err == nil {
			_, err = team.Create(ctx, tx, team.Caller{Person: true}, team.New{Name: "u"}, now)
		}
		return err
	})
	return w
}

// Each row of the contracts' error tables, and what they leave open.
func TestErrors(t *testing.T) {
	t.Parallel()
	const (
		graceful = `{"success":false,"method":"graceful","phase":"requested","reassignedTasks":[],"error":%q}`
		force    = `{"success":false,"method":"force","phase":"requested","reassignedTasks":[],"error":%q}`
		status   = `{"success":false,"agents":[],"summary":{"total":0,"active":0,"idle":0,"inactive":0,"shuttingDown":0,"terminated":0},"error":%q}`
		sent     = `{"success":false,"id":"","error":%q}`
		taskless = `{"success":false,"error":%q}`
	)
	w := newCrew(t)
	for _, test := range []struct {
		name, tool, input string
		// token is the caller's; empty: a person.
		token, form, err string
	}{
		{"worker kills", "kill-agent", `{"teamName":"t","agentId":"agent-mate"}`, "token", graceful, "Only the team leader can kill agents"},
		{"worker kills by force", "kill-agent", `{"teamName":"t","agentId":"agent-mate","force":true}`, "token", force, "Only the team leader can kill agents"},
		{"worker kills itself", "kill-agent", `{"teamName":"t","agentId":"agent-aaaaaa","force":true}`, "token", force, "Only the team leader can kill agents"},
		{"worker kills an unknown agent", "kill-agent", `{"teamName":"t","agentId":"ghost"}`, "token", graceful, "Only the team leader can kill agents"},
		{"worker kills in another team", "kill-agent", `{"teamName":"u","agentId":"ghost"}`, "token", graceful, "Only the team leader can kill agents"},
		{"kill of an unknown agent", "kill-agent", `{"teamName":"t","agentId":"ghost"}`, "", graceful, "Agent 'ghost' not found"},
		{"forced kill of an unknown agent", "kill-agent", `{"teamName":"t","agentId":"ghost","force":true}`, "", force, "Agent 'ghost' not found"},
		{"kill in the wrong team", "kill-agent", `{"teamName":"u","agentId":"agent-mate","force":true}`, "", force, "Agent 'agent-mate' not found"},
		{"kill of who has ended", "kill-agent", `{"teamName":"t","agentId":"agent-gone"}`, "", graceful, "Agent 'agent-gone' is already terminated"},
		{"forced kill of who has ended", "kill-agent", `{"teamName":"t","agentId":"agent-gone","force":true}`, "", force, "Agent 'agent-gone' is already terminated"},
		{"kill of the leader", "kill-agent", `{"teamName":"t","agentId":"leader"}`, "", graceful, "Cannot kill the team leader"},
		{"forced kill of the leader", "kill-agent", `{"teamName":"t","agentId":"leader","force":true}`, "", force, "Cannot kill the team leader"},
		{"kill in no team", "kill-agent", `{"teamName":"v","agentId":"x"}`, "", graceful, "Team 'v' does not exist"},
		{"kill with a strange token", "kill-agent", `{"teamName":"t","agentId":"agent-mate"}`, "guess", graceful, "Unknown agent token"},
		{"kill without a team", "kill-agent", `{"teamName":"","agentId":"x"}`, "", graceful, "invalid input: teamName: must not be empty"},
		{"kill with a word for force", "kill-agent", `{"teamName":"t","agentId":"x","force":"yes"}`, "", graceful, "invalid input: force: must be true or false"},
		{"wrong input by force", "kill-agent", `{"force":true}`, "", force, "invalid input: teamName: is required; agentId: is required"},

		{"status of no team", "get-agent-status", `{"teamName":"v"}`, "", status, "Team 'v' does not exist"},
		{"status of an unknown agent", "get-agent-status", `{"teamName":"t","agentId":"ghost"}`, "", status, "Agent 'ghost' not found in team 't'"},
		{"status of another team's", "get-agent-status", `{"teamName":"u","agentId":"agent-mate"}`, "", status, "Agent 'agent-mate' not found in team 'u'"},
		{"status for a stranger", "get-agent-status", `{"teamName":"u"}`, "token", status, "Not a member of team 'u'"},
		{"status with a strange token", "get-agent-status", `{"teamName":"t"}`, "guess", status, "Unknown agent token"},
		{"status without a team", "get-agent-status", `{}`, "", status, "invalid input: teamName: is required"},

		{"kill of no shell", "KillShell", `{"shell_id":"bg-stuck","signal":"SIGINT"}`, "", `{"success":false,"shell_id":"bg-stuck","signal_sent":"SIGINT","error":%q}`, "Shell not found: bg-stuck"},
		{"kill of a shell with another signal", "KillShell", `{"shell_id":"bg-stuck","signal":"SIGHUP"}`, "", `{"success":false,"shell_id":"bg-stuck","signal_sent":"SIGTERM","error":%q}`, "invalid input: signal: must be one of SIGTERM, SIGKILL, SIGINT"},
		{"reading of no shell", "BashOutput", `{"shell_id":"bg-stuck"}`, "", `{"success":false,"shell_id":"bg-stuck","status":"error","output":"","error":%q}`, "Shell not found: bg-stuck"},

		{"spawn by a worker", "spawn-agent", `{"teamName":"t","command":["true"]}`, "token", `{"success":false,"agentId":"","name":"","color":"","sessionId":"","error":%q}`, "Only the team leader can spawn agents"},
		{"spawn of nothing", "spawn-agent", `{"teamName":"t","name":"n"}`, "", `{"success":false,"agentId":"","name":"n","color":"","sessionId":"","error":%q}`, "no command for the agent: neither command nor [team] agent_command of the config is set"},
		{"team of that name", "spawn-team", `{"teamName":"t"}`, "", `{"success":false,"teamName":"t","leader":"","error":%q}`, "Team 't' already exists"},
		{"team without a name", "spawn-team", `{"teamName":"a b"}`, "", `{"success":false,"teamName":"a b","leader":"","error":%q}`, `Invalid team name "a b": Team name must be alphanumeric with hyphens/underscores`},

		{"heartbeat of who has ended", "heartbeat", `{"teamName":"t","agentId":"agent-gone"}`, "", taskless, "Cannot heartbeat for terminated agent"},
		{"heartbeat of an unknown agent", "heartbeat", `{"teamName":"t","agentId":"ghost"}`, "", taskless, "Agent 'ghost' not found"},
		{"heartbeat of another kind", "heartbeat", `{"teamName":"t","status":"inactive"}`, "", taskless, "invalid input: status: must be one of active, idle"},
		{"answer without a request", "respond-shutdown", `{"teamName":"t","approve":true}`, "token", `{"success":false,"reassignedTasks":[],"error":%q}`, "No shutdown request to respond to"},

		{"message to an unknown agent", "send-message", `{"teamName":"t","to":"ghost","message":"m"}`, "", sent, "Recipient 'ghost' is not a member of team 't'"},
		{"message to who has ended", "send-message", `{"teamName":"t","to":"agent-gone","message":"m"}`, "", sent, "Recipient 'agent-gone' is not a member of team 't'"},
		{"message of a stranger", "send-message", `{"teamName":"u","to":"leader","message":"m"}`, "token", sent, "Not a member of team 'u'"},
		{"messages of no team", "read-messages", `{"teamName":"v"}`, "", `{"success":false,"messages":[],"error":%q}`, "Team 'v' does not exist"},

		{"worker that is not there", "worker-status", `{"name":"ghost"}`, "", taskless, "worker 'ghost' not found"},
		{"output of no worker", "worker-output", `{"name":"ghost"}`, "", `{"success":false,"output":"","cursor":"","error":%q}`, "worker 'ghost' not found"},
		{"output from nowhere", "worker-output", `{"name":"ghost","cursor":"x.y"}`, "", `{"success":false,"output":"","cursor":"","error":%q}`, "invalid input: cursor: must be the cursor of an earlier answer"},
		{"output that matches nonsense", "worker-output", `{"name":"ghost","grep":"("}`, "", `{"success":false,"output":"","cursor":"","error":%q}`, "invalid input: grep: error parsing regexp: missing closing ): `(`"},
		{"text for no worker", "worker-send", `{"name":"ghost","text":"x"}`, "", taskless, "worker 'ghost' not found"},
		{"no text", "worker-send", `{"name":"ghost","text":"","enter":false}`, "", taskless, "invalid input: text: must not be empty without enter"},
		{"wait for no worker", "worker-wait", `{"names":["ghost"]}`, "", `{"success":false,"workers":[],"error":%q}`, "worker 'ghost' not found"},
		{"wait without names", "worker-wait", `{"names":[]}`, "", `{"success":false,"workers":[],"error":%q}`, "invalid input: names: must not be empty"},
		{"kill of no worker", "worker-kill", `{"name":"ghost"}`, "", taskless, "worker 'ghost' not found"},
		{"invalid environment", "worker-spawn", `{"name":"w","command":["true"],"env":["x"]}`, "", taskless, "invalid input: env: must be entries of the form KEY=VALUE"},
		{"branch of nothing", "worker-spawn", `{"name":"w","command":["true"],"branch":"x"}`, "", taskless, "invalid input: branch: needs worktree or workspace"},

		{"claim of no task", "task-claim", `{"teamName":"t","taskId":"task-9"}`, "token", taskless, "Task task-9 not found in team t"},
		{"task by a stranger", "task-create", `{"teamName":"u","title":"x"}`, "token", taskless, "Not a member of team 'u'"},
		{"task that waits for nothing", "task-create", `{"teamName":"t","title":"x","dependencies":["task-9"]}`, "", taskless, "Dependency task task-9 does not exist"},
		{"task that waits for itself", "task-update", `{"teamName":"t","taskId":"task-1","status":"pending","dependencies":["task-1"]}`, "", taskless, "Circular dependency detected: task-1"},
		{"leap", "task-update", `{"teamName":"t","taskId":"task-1","status":"completed"}`, "", taskless, "Invalid status transition: pending -> completed"},
		{"tasks of no team", "task-list", `{"teamName":"v"}`, "", `{"success":false,"tasks":[],"error":%q}`, "Team 'v' does not exist"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tool, ok := Find(test.tool)
			if !ok {
				t.Fatal("no such tool")
			}
			r := tool.Call(t.Context(), Env{Open: w.openAs(test.token), Dir: w.dir}, json.RawMessage(test.input))
			checkAnswer(t, tool, resolve(t, []Tool{tool})[0], r)
			got, err := json.Marshal(r.Output)
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf(test.form, test.err)
			if diff := cmp.Diff(decoded(t, []byte(want)), decoded(t, got)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func decoded(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

// An invalid input is refused before anything is touched, and a forbidden call leaves no
// trace.
func TestRefusedTouchesNothing(t *testing.T) {
	t.Parallel()
	w := newCrew(t)
	before := contents(t, w.dir)
	for _, tool := range All() {
		for _, input := range hostile {
			tool.Call(t.Context(), Env{Open: w.openAs("guess"), Dir: w.dir}, json.RawMessage(input))
		}
	}
	if diff := cmp.Diff(before, contents(t, w.dir)); diff != "" {
		t.Errorf("changed (-before +after):\n%s", diff)
	}
}

// Where there is no state directory, none is made to say that there is no team.
func TestNoState(t *testing.T) {
	t.Parallel()
	w := &world{t.TempDir()}
	for _, tool := range All() {
		if tool.Name == "spawn-team" || tool.Name == "Bash" || tool.Name == "worker-spawn" {
			continue
		}
		for _, input := range fitting {
			tool.Call(t.Context(), Env{Open: w.open, Dir: w.dir}, json.RawMessage(input))
		}
		if _, err := os.Stat(filepath.Join(w.dir, "state")); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("after %s: %v", tool.Name, err)
		}
	}
}

// contents are the files below a directory with what is in them, but for those in
// which readers of a database meet.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") {
			return err
		}
		data, err := os.ReadFile(path)
		if len(data) > 0 {
			files[path] = hash(string(data))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A host that can't be opened is an answer, too.
func TestNoHost(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	open := func(context.Context) (*host.Host, error) { return nil, broken }
	tools := All()
	for i, s := range resolve(t, tools) {
		for _, input := range fitting {
			r := tools[i].Call(t.Context(), Env{Open: open, Dir: "/"}, json.RawMessage(input))
			checkAnswer(t, tools[i], s, r)
			if s.takes([]byte(input)) && !errors.Is(r.Err, broken) {
				t.Errorf("%s %s: %v", tools[i].Name, input, r.Err)
			}
		}
	}
}

// A message to all of whom there are none is sent to no agent.
func TestMessageToNoMembers(t *testing.T) {
	t.Parallel()
	w := newCrew(t)
	out, err := SendMessage.Do(t.Context(), Env{Open: w.open}, SendMessageInput{TeamName: "u", To: "all", Message: "m"})
	if err != nil || !out.Success || out.ID != "" {
		t.Errorf("%+v, %v", out, err)
	}
}

// The host stays open for the work after the answer.
func TestAfterAnswer(t *testing.T) {
	t.Parallel()
	var done []string
	note := func(what string) func() error {
		return func() error { done = append(done, what); return nil }
	}
	var out RespondShutdownOutput
	out.AfterAnswer = func(context.Context) error { return note("end")() }
	if !closeLater(&out, note("close")) || done != nil {
		t.Fatalf("done at once: %q", done)
	}
	if err := out.AfterAnswer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"end", "close"}, done); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if closeLater(new(KillAgentOutput), note("")) || closeLater(new(TaskOutput), note("")) {
		t.Error("nothing is left to do, and the host stays open")
	}
}

// A caller that waits for a kill gets progress from its beginning on, and none after its
// end.
func TestKillProgress(t *testing.T) {
	t.Parallel()
	totals := make(chan float64, 16)
	env := Env{Progress: func(text string, _, total float64) {
		if text != "waiting for bg-a1b2c3 to end" {
			t.Errorf("%q", text)
		}
		totals <- total
	}}
	event, stop := killProgress(env, "bg-a1b2c3")
	event(kill.Event{Grace: time.Hour, Deadline: time.Now().Add(time.Hour)})
	event(kill.Event{Grace: 2 * time.Hour, Deadline: time.Now().Add(2 * time.Hour)})
	if total := <-totals; total != time.Hour.Seconds() {
		t.Errorf("%v seconds in all", total)
	}
	event(kill.Event{Done: true})
	stop()
	close(totals) // a word after it would panic

	_, stop = killProgress(env, "never begun")
	stop()
	if event, stop := killProgress(Env{}, "nothing listens"); event != nil {
		t.Error("the client wants no progress, and gets it")
	} else {
		stop()
	}
}
