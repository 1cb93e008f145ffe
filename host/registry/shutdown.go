package registry

import (
	"context"
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
	ID      int64  `json:"-"`
	Team    string `json:"-"`
	AgentID string `json:"-"`
	// Requester is the member who asked for it.
	Requester string        `json:"requester,omitempty"`
	Reason    string        `json:"reason,omitempty"`
	Phase     ShutdownPhase `json:"-"`
	Forced    bool          `json:"forced,omitempty"`
	// Unclaimed says that the end was recorded by a call that had noticed it, and that no
	// call has said yet that it forced it.
	Unclaimed bool `json:"unclaimed,omitempty"`
	// Told says that its rejection was returned to the one who asked.
	Told      bool      `json:"told,omitempty"`
	Requested time.Time `json:"requested"`
	// Responded and Completed are zero where they did not happen.
	Responded time.Time `json:"responded,omitzero"`
	Completed time.Time `json:"completed,omitzero"`
	// Response is what the agent said to it.
	Response string `json:"response,omitempty"`
	// Reassigned are the ids of the tasks that were given back with it.
	Reassigned []string `json:"reassigned,omitempty"`
}

const shutdownColumns = "team, agent_id, document, phase"

func (s *Shutdown) fields() []any { return []any{&s.Team, &s.AgentID, document{s}, &s.Phase} }

// InsertShutdown adds a shutdown and gives it its ID.
func (t *Tx) InsertShutdown(ctx context.Context, s *Shutdown) error {
	res, err := t.tx.ExecContext(ctx, "INSERT INTO shutdowns ("+shutdownColumns+") VALUES ("+marks(shutdownColumns)+")", s.fields()...)
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
	_, err := t.tx.ExecContext(ctx, "UPDATE shutdowns SET ("+shutdownColumns+") = ("+marks(shutdownColumns)+") WHERE id = ?", append(s.fields(), s.ID)...)
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
		if err := rows.Scan(append([]any{&s.ID}, s.fields()...)...); err != nil {
			return nil, fmt.Errorf("read shutdowns: %w", err)
		}
		all = append(all, s)
	}
	return all, rows.Err()
}
