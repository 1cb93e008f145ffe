package registry

import (
	"context"
	"fmt"
	"time"
)

type Team struct {
	Name, Description string
	// LeaderWorker is the id of the worker whose inhabitants lead it; empty: people
	// do.
	LeaderWorker string
	// Server is what its agents share, or nil.
	Server  *Server
	Created time.Time
}

// Server is a worker that the agents of a team share, and how to start it again.
type Server struct {
	// Command is its argv, as it was asked for.
	Command []string `json:"command"`
	Dir     string   `json:"dir"`
	// WorkerID is the id of the worker that it is now or was last, Port where that
	// listens on the local host.
	WorkerID string `json:"worker_id,omitempty"`
	Port     int    `json:"port,omitempty"`
	// Used says that agents used this worker. It is useless any more once there
	// are none left.
	Used bool `json:"used,omitempty"`
}

const teamColumns = "name, description, leader_worker, server, created_ns"

func (t *Team) fields() []any {
	return []any{&t.Name, &t.Description, &t.LeaderWorker, optional[*Server]{of: &t.Server}, (*stamp)(&t.Created)}
}

// InsertTeam adds a team. It returns [ErrExists] if there is one of its name.
func (t *Tx) InsertTeam(ctx context.Context, team *Team) error {
	_, err := t.add(ctx, "teams", teamColumns, team.fields())
	return wrapf(taken(err), "add team '%s'", team.Name)
}

// PutTeam writes a team in the place of the one with its name.
func (t *Tx) PutTeam(ctx context.Context, team *Team) error {
	return wrapf(t.put(ctx, "teams", teamColumns, team.fields(), "name = ?", team.Name), "write team '%s'", team.Name)
}

// DeleteTeam removes a team and all that it has: agents, shutdowns, tasks,
// messages. Its workers stay.
func (t *Tx) DeleteTeam(ctx context.Context, name string) error {
	for _, query := range []string{
		"DELETE FROM messages WHERE team = ?",
		"DELETE FROM task_deps WHERE team = ?",
		"DELETE FROM tasks WHERE team = ?",
		"DELETE FROM shutdowns WHERE team = ?",
		"DELETE FROM agents WHERE team = ?",
		"DELETE FROM teams WHERE name = ?",
	} {
		if err := t.exec(ctx, query, name); err != nil {
			return fmt.Errorf("delete team '%s': %w", name, err)
		}
	}
	return nil
}

// Team returns the team of that name: [ErrNotFound] if there is none.
func (t *Tx) Team(ctx context.Context, name string) (Team, error) {
	team, err := scan[Team](t.tx.QueryRowContext(ctx, "SELECT "+teamColumns+" FROM teams WHERE name = ?", name))
	return team, wrapf(orNotFound(err), "team '%s'", name)
}

// Teams returns all teams, sorted by name. One that can't be read is left out and
// named in warnings.
func (t *Tx) Teams(ctx context.Context) (teams []Team, warnings []string, err error) {
	return readable(ctx, t.tx, scan[Team], "team", func(team Team) string { return team.Name },
		"SELECT "+teamColumns+" FROM teams ORDER BY name")
}
