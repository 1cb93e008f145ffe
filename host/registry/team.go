package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Team is some workers that work together.
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
	// Used says that agents used this worker. It is of no use any more once there
	// are none left.
	Used bool `json:"used,omitempty"`
}

const teamColumns = "name, description, leader_worker, server, created_ns"

// InsertTeam adds a team: [ErrExists] if there is one of its name.
func (t *Tx) InsertTeam(ctx context.Context, team *Team) error {
	server, err := team.server()
	if err == nil {
		_, err = t.tx.ExecContext(ctx, "INSERT INTO teams ("+teamColumns+") VALUES (?, ?, ?, ?, ?)",
			team.Name, team.Description, team.LeaderWorker, server, nanos(team.Created))
	}
	if err != nil {
		return fmt.Errorf("add team '%s': %w", team.Name, taken(err))
	}
	return nil
}

// PutTeam writes a team in the place of the one with its name.
func (t *Tx) PutTeam(ctx context.Context, team *Team) error {
	server, err := team.server()
	if err == nil {
		_, err = t.tx.ExecContext(ctx, "UPDATE teams SET description = ?, leader_worker = ?, server = ?, created_ns = ? WHERE name = ?",
			team.Description, team.LeaderWorker, server, nanos(team.Created), team.Name)
	}
	if err != nil {
		return fmt.Errorf("write team '%s': %w", team.Name, err)
	}
	return nil
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
		if _, err := t.tx.ExecContext(ctx, query, name); err != nil {
			return fmt.Errorf("delete team '%s': %w", name, err)
		}
	}
	return nil
}

// Team returns the team of that name: [ErrNotFound] if there is none.
func (t *Tx) Team(ctx context.Context, name string) (Team, error) {
	team, err := scanTeam(t.tx.QueryRowContext(ctx, "SELECT "+teamColumns+" FROM teams WHERE name = ?", name))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return Team{}, fmt.Errorf("team '%s': %w", name, err)
	}
	return team, nil
}

// Teams returns all teams, sorted by name. One that can't be read is left out and
// named in warnings.
func (t *Tx) Teams(ctx context.Context) (teams []Team, warnings []string, err error) {
	rows, err := t.tx.QueryContext(ctx, "SELECT "+teamColumns+" FROM teams ORDER BY name")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		team, err := scanTeam(rows)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("cannot read team '%s': %v", unnamed(team.Name), err))
			continue
		}
		teams = append(teams, team)
	}
	return teams, warnings, rows.Err()
}

// scanner is a row, alone or of many.
type scanner interface{ Scan(targets ...any) error }

func scanTeam(s scanner) (Team, error) {
	var team Team
	var server string
	var created int64
	err := s.Scan(&team.Name, &team.Description, &team.LeaderWorker, &server, &created)
	if err == nil && server != "" {
		err = json.Unmarshal([]byte(server), &team.Server)
	}
	team.Created = when(created)
	return team, err
}

func (t *Team) server() (string, error) {
	if t.Server == nil {
		return "", nil
	}
	b, err := json.Marshal(t.Server)
	return string(b), err
}

// taken makes an [ErrExists] of a value that is there already and must not be
// there twice.
func taken(err error) error {
	var se *sqlite.Error
	if errors.As(err, &se) && (se.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || se.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY) {
		return ErrExists
	}
	return err
}

func unnamed(name string) string {
	if name == "" {
		return "?"
	}
	return name
}
