package host

import (
	"github.com/swarmhost/swarm/host/courier"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The words of the rooms that callers of a [Host] need; each is explained where it is
// declared.
type (
	Worker        = worker.Worker
	WorkerStatus  = worker.Status
	AgentState    = worker.AgentState
	StoppedError  = display.StoppedError
	Selection     = worker.Selection
	Warning       = worker.Warning
	NotFoundError = store.NotFoundError
	Figures       = stats.Figures
	Log           = statedir.Log
	HookEvent     = courier.HookEvent

	Peek           = display.Peek
	Explanation    = display.Explanation
	ReadyRequest   = display.ReadyRequest
	AsksError      = display.AsksError
	NoProfileError = display.NoProfileError
	LogsRequest    = display.LogsRequest
	LogsEnd        = display.LogsEnd
	NoRunError     = display.NoRunError

	BoundsOutcome  = input.BoundsOutcome
	SendOutcome    = input.Outcome
	DeliverRequest = input.DeliverRequest
	KeysRequest    = input.KeysRequest
	SignalRequest  = input.SignalRequest

	KillRequest  = kill.Request
	KillEvent    = kill.Event
	KillOutcome  = kill.Outcome
	CleanRequest = kill.CleanRequest
	CleanOutcome = kill.Outcome

	Defaults         = spawn.Defaults
	Own              = registry.Own
	SpawnRequest     = spawn.Request
	WorkspaceRequest = spawn.WorkspaceRequest
	RespawnRequest   = spawn.RespawnRequest
	Fallen           = spawn.Fallen
	ResurrectRequest = spawn.ResurrectRequest
	Resurrection     = spawn.Resurrection
	AdoptRequest     = spawn.AdoptRequest
	AdoptOutcome     = spawn.AdoptOutcome
	KeptError        = spawn.KeptError
)

const (
	StatusStarting = worker.StatusStarting
	StatusRunning  = worker.StatusRunning
	StatusStopped  = worker.StatusStopped
	StatusLost     = worker.StatusLost
	StatusUnknown  = worker.StatusUnknown

	SourceScreen = worker.SourceScreen

	PeekLines           = display.PeekLines
	DefaultReadyTimeout = display.DefaultReadyTimeout

	CourierVerb = courier.Verb
)

// The errors of verbs on workers.
var (
	ErrNotFound    = store.ErrNotFound
	ErrExists      = worker.ErrExists
	ErrNoSelection = worker.ErrNoSelection
	ErrOvertaken   = worker.ErrOvertaken
	ErrOutside     = worker.ErrOutside
	ErrRunning     = worker.ErrRunning
	ErrEnded       = worker.ErrEnded
	ErrNotReady    = display.ErrNotReady
	ErrBroken      = display.ErrBroken
	ErrRestarted   = display.ErrRestarted
)

// MayRun returns an [ErrRunning] for a lost worker that perhaps still runs, see
// [worker.MayRun].
func MayRun(w Worker, what string) error { return worker.MayRun(w, what) }

// TeamStatus returns what a state means for an agent of a team; empty: nothing.
func TeamStatus(s *AgentState) team.Status { return worker.TeamStatus(s) }

// LimitsText writes limits for people; it is empty if there are none.
func LimitsText(l swarm.Limits) string { return worker.LimitsText(l) }

// SandboxText writes a sandbox as people read it; empty if there is none.
func SandboxText(s *swarm.Sandbox) string { return worker.SandboxText(s) }
