package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

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
	// Answered says that its rejection was returned to the requester.
	Answered  bool      `json:"told,omitempty"`
	Requested time.Time `json:"requested"`
	// Responded and Completed are zero where they did not happen.
	Responded time.Time `json:"responded,omitzero"`
	Completed time.Time `json:"completed,omitzero"`
	// Response is what the agent said to it.
	Response string `json:"response,omitempty"`
	// Reassigned are the ids of the tasks that were given back with it.
	Reassigned []string `json:"reassigned,omitempty"`
}

const (
	shutdownColumns = "id, team, agent_id, document, phase"
	selectShutdowns = "SELECT " + shutdownColumns + " FROM shutdowns WHERE "
)

func (s *Shutdown) fields() []any { return []any{&s.ID, &s.Team, &s.AgentID, document{s}, &s.Phase} }

// InsertShutdown adds a shutdown and gives it its ID.
func (t *Tx) InsertShutdown(ctx context.Context, s *Shutdown) (err error) {
	s.ID, err = t.add(ctx, "shutdowns", shutdownColumns, s.fields())
	return wrapf(err, "add the shutdown of '%s'", s.AgentID)
}

// PutShutdown writes a shutdown in the place of the one with its ID.
func (t *Tx) PutShutdown(ctx context.Context, s *Shutdown) error {
	return wrapf(t.put(ctx, "shutdowns", shutdownColumns, s.fields(), "id = ?", s.ID), "write the shutdown of '%s'", s.AgentID)
}

// LastShutdown returns the newest shutdown of an agent: [ErrNotFound] if there was
// none.
func (t *Tx) LastShutdown(ctx context.Context, agentID string) (Shutdown, error) {
	s, err := scan[Shutdown](t.tx.QueryRowContext(ctx, selectShutdowns+"agent_id = ? ORDER BY id DESC LIMIT 1", agentID))
	if errors.Is(err, sql.ErrNoRows) {
		return s, fmt.Errorf("a shutdown of '%s': %w", agentID, ErrNotFound)
	}
	return s, wrapf(err, "read shutdowns")
}

// Shutdowns returns all shutdowns of a team, the oldest first.
func (t *Tx) Shutdowns(ctx context.Context, team string) ([]Shutdown, error) {
	shutdowns, err := all(ctx, t.tx, scan[Shutdown], selectShutdowns+"team = ? ORDER BY id", team)
	return shutdowns, wrapf(err, "read shutdowns")
}
