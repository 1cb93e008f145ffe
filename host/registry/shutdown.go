package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ShutdownPhase is how far the ending of an agent is.
type ShutdownPhase string

// The phases of a shutdown. The last three are its end.
const (
	ShutdownRequested   ShutdownPhase = "requested"
	ShutdownApproved    ShutdownPhase = "approved"
	ShutdownRejected    ShutdownPhase = "rejected"
	ShutdownConfirmed   ShutdownPhase = "confirmed"
	ShutdownForceKilled ShutdownPhase = "force_killed"
)

// Shutdown is one time that an agent was to end.
type Shutdown struct {
	// ID grows with every shutdown of the state directory; 0 for one that is to be
	// added.
	ID            int64
	Team, AgentID string
	// Requester is the member who asked for it.
	Requester, Reason string
	Phase             ShutdownPhase
	Forced            bool
	// Told says that its rejection was returned to the one who asked.
	Told bool
	// Responded and Completed are zero where they did not happen.
	Requested, Responded, Completed time.Time
	// Response is what the agent said to it.
	Response string
	// Reassigned are the ids of the tasks that were given back with it.
	Reassigned []string
}

const shutdownColumns = `team, agent_id, requester, reason, phase, forced, told, requested_ns, responded_ns, completed_ns, response, reassigned`

// InsertShutdown adds a shutdown and gives it its ID.
func (t *Tx) InsertShutdown(ctx context.Context, s *Shutdown) error {
	values, err := s.values()
	if err != nil {
		return err
	}
	res, err := t.tx.ExecContext(ctx, "INSERT INTO shutdowns ("+shutdownColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values...)
	if err == nil {
		s.ID, err = res.LastInsertId()
	}
	if err != nil {
		return fmt.Errorf("add the shutdown of '%s': %w", s.AgentID, err)
	}
	return nil
}

// PutShutdown writes a shutdown in the place of the one with its ID.
func (t *Tx) PutShutdown(ctx context.Context, s *Shutdown) error {
	values, err := s.values()
	if err == nil {
		_, err = t.tx.ExecContext(ctx, "UPDATE shutdowns SET ("+shutdownColumns+") = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?", append(values, s.ID)...)
	}
	if err != nil {
		return fmt.Errorf("write the shutdown of '%s': %w", s.AgentID, err)
	}
	return nil
}

// LastShutdown returns the newest shutdown of an agent: [ErrNotFound] if there was
// none.
func (t *Tx) LastShutdown(ctx context.Context, agentID string) (Shutdown, error) {
	all, err := t.shutdowns(ctx, "agent_id = ? ORDER BY id DESC LIMIT 1", agentID)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("a shutdown of '%s': %w", agentID, ErrNotFound)
	}
	if err != nil {
		return Shutdown{}, err
	}
	return all[0], nil
}

// Shutdowns returns all shutdowns of a team, the oldest first.
func (t *Tx) Shutdowns(ctx context.Context, team string) ([]Shutdown, error) {
	return t.shutdowns(ctx, "team = ? ORDER BY id", team)
}

func (t *Tx) shutdowns(ctx context.Context, where string, args ...any) (all []Shutdown, err error) {
	rows, err := t.tx.QueryContext(ctx, "SELECT id, "+shutdownColumns+" FROM shutdowns WHERE "+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read shutdowns: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s Shutdown
		var requested, responded, completed int64
		var reassigned string
		err := rows.Scan(&s.ID, &s.Team, &s.AgentID, &s.Requester, &s.Reason, &s.Phase, &s.Forced, &s.Told,
			&requested, &responded, &completed, &s.Response, &reassigned)
		if err == nil && reassigned != "" {
			err = json.Unmarshal([]byte(reassigned), &s.Reassigned)
		}
		if err != nil {
			return nil, fmt.Errorf("read shutdowns: %w", err)
		}
		s.Requested, s.Responded, s.Completed = when(requested), when(responded), when(completed)
		all = append(all, s)
	}
	return all, rows.Err()
}

func (s *Shutdown) values() ([]any, error) {
	reassigned := ""
	if len(s.Reassigned) > 0 {
		b, err := json.Marshal(s.Reassigned)
		if err != nil {
			return nil, err
		}
		reassigned = string(b)
	}
	return []any{
		s.Team, s.AgentID, s.Requester, s.Reason, string(s.Phase), s.Forced, s.Told,
		nanos(s.Requested), nanos(s.Responded), nanos(s.Completed), s.Response, reassigned,
	}, nil
}
