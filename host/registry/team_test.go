package registry

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// allOfTeams is all that the tables of teams hold.
type allOfTeams struct {
	Teams     []Team
	Agents    []Agent
	Shutdowns []Shutdown
	Tasks     []Task
	Messages  []Message
}

// teamsOfFixture has something in every field, and beside it as little as can be.
func teamsOfFixture() allOfTeams {
	at := func(s int64) time.Time { return time.Unix(1700000000+s, s) }
	return allOfTeams{
		Teams: []Team{
			{Name: "blue", Created: at(1)},
			{
				Name: "red", Description: "ä\n'b'", LeaderWorker: "1m7z0xwyhn2yfekg", Created: at(2),
				Server: &Server{Command: []string{"serve", "{port}"}, Dir: "/d", WorkerID: "1m7z0xwyhn2yfekh", Port: 28000, Used: true},
			},
		},
		Agents: []Agent{
			{
				Seq: 1, ID: "agent-abc123", Team: "red", Name: "ann", Role: RoleReviewer, Model: "m", Color: "#FF6B6B",
				Session: "s", Pane: "%1", Dir: "/d", Prompt: "do\nit", Status: AgentShuttingDown, Before: AgentIdle, WorkerID: "w1", Worker: "red-ann",
				TokenHash: "ab", Created: at(3), Heartbeat: at(4), Lost: at(5), Terminated: at(6), ColorUsed: at(7), LastError: "why", Rotations: 3,
			},
			{Seq: 2, ID: "agent-def456", Team: "red", Name: "bob", Role: RoleWorker, Status: AgentTerminated, Created: at(8)},
			{Seq: 3, ID: "agent-ghi789", Team: "red", Name: "bob", Role: RoleLeader, Status: AgentActive, Created: at(9)},
		},
		Shutdowns: []Shutdown{
			{
				ID: 1, Team: "red", AgentID: "agent-abc123", Requester: "leader", Reason: "done", Phase: ShutdownForceKilled, Forced: true, Told: true,
				Requested: at(10), Responded: at(11), Completed: at(12), Response: "well", Reassigned: []string{"task-1", "task-2"},
			},
			{ID: 2, Team: "red", AgentID: "agent-abc123", Phase: ShutdownRequested, Requested: at(13)},
		},
		Tasks: []Task{
			{
				Team: "red", N: 1, Title: "t", Description: "d", Priority: PriorityHigh, Status: TaskInProgress, Owner: "agent-abc123",
				Created: at(14), Updated: at(15), Claimed: at(16), Completed: at(17), Warning: "w", Blocks: []int{2},
			},
			{Team: "red", N: 2, Title: "u", Priority: PriorityNormal, Status: TaskPending, Created: at(18), Needs: []int{1}},
		},
		Messages: []Message{
			{ID: 1, Team: "red", Sender: "agent-abc123", Recipient: "leader", Type: MessagePlain, Body: "hello ä", Time: at(19), Read: at(20)},
			{ID: 2, Team: "red", Sender: "system", Recipient: "leader", Type: MessageSystem, Body: "x", Time: at(21)},
		},
	}
}

func writeTeams(t *testing.T, r *Registry) {
	t.Helper()
	all := teamsOfFixture()
	err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
		var errs []error
		for i := range all.Teams {
			errs = append(errs, tx.InsertTeam(ctx, &all.Teams[i]))
		}
		for i := range all.Agents {
			errs = append(errs, tx.InsertAgent(ctx, &all.Agents[i]))
		}
		for i := range all.Shutdowns {
			errs = append(errs, tx.InsertShutdown(ctx, &all.Shutdowns[i]))
		}
		for i := range all.Tasks {
			errs = append(errs, tx.AddTask(ctx, &all.Tasks[i]))
		}
		for i := range all.Messages {
			errs = append(errs, tx.AddMessage(ctx, &all.Messages[i]))
		}
		return errors.Join(errs...)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// readTeams reads all that there is of teams, also of such that have no row.
func readTeams(t *testing.T, r *Registry) allOfTeams {
	t.Helper()
	var all allOfTeams
	err := r.View(t.Context(), func(ctx context.Context, tx *Tx) (err error) {
		var warnings []string
		if all.Teams, warnings, err = tx.Teams(ctx); err != nil || warnings != nil {
			t.Error(warnings)
			return err
		}
		if all.Agents, warnings, err = tx.Agents(ctx, AgentQuery{}); err != nil || warnings != nil {
			t.Error(warnings)
			return err
		}
		if all.Shutdowns, err = tx.shutdowns(ctx, "TRUE ORDER BY id"); err != nil {
			return err
		}
		for _, team := range all.Teams {
			tasks, err := tx.Tasks(ctx, TaskQuery{Team: team.Name})
			if err != nil {
				return err
			}
			all.Tasks = append(all.Tasks, tasks...)
			inbox, _, err := tx.Messages(ctx, MessageQuery{Team: team.Name, Recipient: "leader", Limit: 1000, Bytes: 1 << 20})
			if err != nil {
				return err
			}
			all.Messages = append(all.Messages, inbox...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTeamsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	writeTeams(t, r)
	want := teamsOfFixture()
	if diff := cmp.Diff(want, readTeams(t, r)); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
		for i := range want.Agents {
			want.Agents[i].Model, want.Agents[i].Rotations = "another", 9
			if err := tx.PutAgent(ctx, &want.Agents[i]); err != nil {
				return err
			}
		}
		want.Teams[0].LeaderWorker, want.Teams[1].Server = "w", nil
		want.Shutdowns[1].Phase, want.Shutdowns[1].Response = ShutdownRejected, "no"
		return errors.Join(tx.PutTeam(ctx, &want.Teams[0]), tx.PutTeam(ctx, &want.Teams[1]), tx.PutShutdown(ctx, &want.Shutdowns[1]))
	})
	if diff := cmp.Diff(want, readTeams(t, r)); err != nil || diff != "" {
		t.Errorf("after a change: %v (-want +got):\n%s", err, diff)
	}
	err = r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
		last, err := tx.LastShutdown(ctx, "agent-abc123")
		if diff := cmp.Diff(want.Shutdowns[1], last); diff != "" {
			t.Errorf("the last shutdown (-want +got):\n%s", diff)
		}
		_, none := tx.LastShutdown(ctx, "agent-def456")
		if !errors.Is(none, ErrNotFound) {
			t.Errorf("no shutdown: %v", none)
		}
		return errors.Join(err, tx.DeleteTeam(ctx, "red"))
	})
	if diff := cmp.Diff(allOfTeams{Teams: want.Teams[:1]}, readTeams(t, r)); err != nil || diff != "" {
		t.Errorf("after the end of a team: %v (-want +got):\n%s", err, diff)
	}
}

func TestAgentIsUnique(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	writeTeams(t, r)
	for what, c := range map[string]struct {
		agent Agent
		want  error
	}{
		"its id":               {Agent{ID: "agent-def456", Team: "blue", Name: "x"}, ErrExists},
		"its name":             {Agent{ID: "a", Team: "red", Name: "ann"}, ErrExists},
		"its token":            {Agent{ID: "b", Team: "blue", Name: "x", TokenHash: "ab"}, ErrExists},
		"name in another team": {Agent{ID: "c", Team: "blue", Name: "ann"}, nil},
		"no token":             {Agent{ID: "d", Team: "blue", Name: "y"}, nil},
	} {
		c.agent.Role, c.agent.Status = RoleWorker, AgentActive
		err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error { return tx.InsertAgent(ctx, &c.agent) })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
}

func TestAgentQuery(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	writeTeams(t, r)
	for what, c := range map[string]struct {
		query AgentQuery
		want  string
	}{
		"all":     {AgentQuery{}, "agent-abc123 agent-def456 agent-ghi789"},
		"team":    {AgentQuery{Team: "blue"}, ""},
		"live":    {AgentQuery{Team: "red", Live: true}, "agent-abc123 agent-ghi789"},
		"id":      {AgentQuery{ID: "agent-def456"}, "agent-def456"},
		"name":    {AgentQuery{Name: "bob", Live: true}, "agent-ghi789"},
		"worker":  {AgentQuery{WorkerID: "w1"}, "agent-abc123"},
		"token":   {AgentQuery{TokenHash: "ab"}, "agent-abc123"},
		"several": {AgentQuery{Team: "red", Name: "bob", WorkerID: "w1"}, ""},
	} {
		var ids []string
		err := r.View(t.Context(), func(ctx context.Context, tx *Tx) error {
			agents, _, err := tx.Agents(ctx, c.query)
			for _, a := range agents {
				ids = append(ids, a.ID)
			}
			return err
		})
		if got := strings.Join(ids, " "); err != nil || got != c.want {
			t.Errorf("%s: %q, want %q, %v", what, got, c.want, err)
		}
	}
}

func TestUnreadableAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	writeTeams(t, r)
	raw(t, dir, "UPDATE agents SET heartbeat_ns = 'soon' WHERE id = 'agent-abc123'")
	raw(t, dir, "PRAGMA ignore_check_constraints=1; UPDATE agents SET status = 'dancing' WHERE id = 'agent-ghi789'")
	raw(t, dir, "UPDATE teams SET server = '{' WHERE name = 'red'")
	err := r.View(t.Context(), func(ctx context.Context, tx *Tx) error {
		agents, warnings, err := tx.Agents(ctx, AgentQuery{Team: "red"})
		if len(agents) != 1 || agents[0].ID != "agent-def456" || len(warnings) != 2 ||
			!strings.Contains(warnings[0], "'agent-abc123'") || !strings.Contains(warnings[1], "'agent-ghi789'") {
			t.Errorf("agents %v, warnings %q", agents, warnings)
		}
		for _, id := range []string{"agent-abc123", "agent-ghi789"} {
			if _, err := tx.Agent(ctx, id); err == nil || errors.Is(err, ErrNotFound) {
				t.Errorf("agent %s: %v", id, err)
			}
		}
		teams, warnings, terr := tx.Teams(ctx)
		if len(teams) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "'red'") {
			t.Errorf("teams %v, warnings %q", teams, warnings)
		}
		return errors.Join(err, terr)
	})
	if err != nil {
		t.Error(err)
	}
}

// A heartbeat that is late does not make an agent older.
func TestBeatDoesNotGoBack(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	writeTeams(t, r)
	for _, ns := range []int64{9e18, 5} {
		change(t, r, func(ctx context.Context, tx *Tx) error { return tx.Beat(ctx, "agent-abc123", time.Unix(0, ns)) })
	}
	if got := readTeams(t, r).Agents[0].Heartbeat.UnixNano(); got != 9e18 {
		t.Errorf("heartbeat %d", got)
	}
}

func TestSavepoint(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	boom := errors.New("boom")
	change(t, r, func(ctx context.Context, tx *Tx) error {
		add := func(name string, err error) func(context.Context) error {
			return func(ctx context.Context) error { return errors.Join(tx.InsertTeam(ctx, &Team{Name: name}), err) }
		}
		for _, c := range []struct {
			part func(context.Context) error
			want error
		}{
			{add("a", nil), nil},
			{add("b", boom), boom},
			// A statement that breaks a rule of the schema fails alone.
			{add("a", nil), ErrExists},
			{add("c", nil), nil},
		} {
			if failed, err := tx.Savepoint(ctx, c.part); err != nil || !errors.Is(failed, c.want) {
				t.Errorf("%v, %v, want %v", failed, err, c.want)
			}
		}
		return nil
	})
	var names []string
	for _, team := range readTeams(t, r).Teams {
		names = append(names, team.Name)
	}
	if diff := cmp.Diff([]string{"a", "c"}, names); diff != "" {
		t.Errorf("teams (-want +got):\n%s", diff)
	}
}

// What ends the whole change is no matter of its part.
func TestSavepointOfAChangeThatIsOver(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
		failed, err := tx.Savepoint(ctx, func(ctx context.Context) error {
			_, err := tx.tx.ExecContext(ctx, "ROLLBACK") // as SQLite does when the disk is full
			return errors.Join(err, errors.New("full"))
		})
		if failed == nil || err == nil {
			t.Errorf("%v, %v", failed, err)
		}
		return err
	})
	if err == nil {
		t.Error("a change that is over was made")
	}
}

// A reader sees one moment, waits for no writer, and changes nothing.
func TestView(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writer, reader := openTest(t, dir), openTest(t, dir)
	writeTeams(t, writer)
	count := func(ctx context.Context, tx *Tx) int {
		teams, _, err := tx.Teams(ctx)
		if err != nil {
			t.Error(err)
		}
		return len(teams)
	}
	change(t, writer, func(ctx context.Context, tx *Tx) error {
		err := tx.InsertTeam(ctx, &Team{Name: "c"})
		return errors.Join(err, reader.View(ctx, func(ctx context.Context, tx *Tx) error {
			if n := count(ctx, tx); n != 2 {
				t.Errorf("a reader sees %d teams in the middle of a change", n)
			}
			return nil
		}))
	})
	err := reader.View(t.Context(), func(ctx context.Context, tx *Tx) error { return tx.DeleteTeam(ctx, "blue") })
	if err != nil {
		t.Error(err)
	}
	err = reader.View(t.Context(), func(ctx context.Context, tx *Tx) error {
		before := count(ctx, tx)
		change(t, writer, func(ctx context.Context, tx *Tx) error { return tx.DeleteTeam(ctx, "red") })
		if after := count(ctx, tx); before != 3 || after != before {
			t.Errorf("%d teams, then %d in the same view", before, after)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What a damaged database still tells of teams is in the one that is made anew.
func TestSalvage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	writeTeams(t, r)
	appendAll(t, r, history()...)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	rebuilt := rebuild(t, dir)
	if diff := cmp.Diff(teamsOfFixture(), readTeams(t, rebuilt)); diff != "" {
		t.Errorf("teams (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(history(), allEvents(t, rebuilt)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	// Ids go on where they were.
	change(t, rebuilt, func(ctx context.Context, tx *Tx) error {
		m := Message{Team: "red", Sender: "leader", Recipient: "leader", Type: MessagePlain}
		task := Task{Team: "red", Title: "v", Priority: PriorityLow, Status: TaskPending}
		err := errors.Join(tx.AddMessage(ctx, &m), tx.AddTask(ctx, &task))
		if m.ID != 3 || task.N != 3 {
			t.Errorf("message %d, task %d", m.ID, task.N)
		}
		return err
	})
}

// rebuild makes another database of what can be read of a closed one.
func rebuild(t *testing.T, dir string) *Registry {
	t.Helper()
	to := t.TempDir()
	if err := Build(t.Context(), to, nil, Salvage(t.Context(), filepath.Join(dir, File))); err != nil {
		t.Fatal(err)
	}
	return openTest(t, to)
}

// One page that can't be read costs what is on it, not what comes after.
func TestSalvageAroundADamagedPage(t *testing.T) {
	t.Parallel()
	const many = 200
	dir := t.TempDir()
	r := openTest(t, dir)
	change(t, r, func(ctx context.Context, tx *Tx) error {
		err := tx.InsertTeam(ctx, &Team{Name: "red"})
		for range many {
			body := strings.Repeat("x", 1000)
			err = errors.Join(err, tx.AddMessage(ctx, &Message{Team: "red", Sender: "leader", Recipient: "leader", Type: MessagePlain, Body: body}))
		}
		return err
	})
	var page, size int64
	for query, into := range map[string]*int64{"SELECT rootpage FROM sqlite_schema WHERE name = 'messages'": &page, "PRAGMA page_size": &size} {
		if err := r.db.QueryRowContext(t.Context(), query).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, File)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The pages of messages come after all roots. Of those one in the middle.
	pages := int64(len(data)) / size
	middle := (page + pages) / 2
	copy(data[(middle-1)*size:middle*size], strings.Repeat("\xff", int(size)))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	got := readTeams(t, rebuild(t, dir))
	if n := len(got.Messages); n < many-20 || n >= many || got.Messages[0].ID != 1 || got.Messages[n-1].ID != many {
		t.Errorf("%d messages, %d to %d", n, got.Messages[0].ID, got.Messages[n-1].ID)
	}
}

// What is left of a team does not wait for what is lost.
func TestSalvageMends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	writeTeams(t, r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, dir, "DELETE FROM teams WHERE name = 'red'; DELETE FROM agents WHERE id = 'agent-abc123'")
	raw(t, dir, "INSERT INTO task_deps VALUES ('red', 2, 9); INSERT INTO messages (team, sender, recipient, type, body, time_ns) VALUES ('green', 'a', 'b', 'plain', '', 5)")
	got := readTeams(t, rebuild(t, dir))
	all := teamsOfFixture()
	want := []Team{{Name: "blue", Created: all.Teams[0].Created}, {Name: "green", Created: time.Unix(0, 5)}, {Name: "red", Created: all.Agents[1].Created}}
	if diff := cmp.Diff(want, got.Teams); diff != "" {
		t.Errorf("teams (-want +got):\n%s", diff)
	}
	waiting := all.Tasks[1]
	waiting.Warning = "A task that it waited for was lost"
	if diff := cmp.Diff([]Task{all.Tasks[0], waiting}, got.Tasks); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// A database of before there were teams has none to save.
func TestSalvageOfOlderSchema(t *testing.T) {
	t.Parallel()
	for schema := 1; schema < 3; schema++ {
		data, err := os.ReadFile(fixture(schema))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, File), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(allOfTeams{}, readTeams(t, rebuild(t, dir))); diff != "" {
			t.Errorf("schema %d (-want +got):\n%s", schema, diff)
		}
	}
}
