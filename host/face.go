package host

import (
	"github.com/swarmhost/swarm/host/courier"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The words of [worker], for callers of a [Host].
type (
	// Worker is what is known of a worker at one moment.
	Worker = worker.Worker
	// WorkerStatus says in one word how a worker is.
	WorkerStatus = worker.Status
	// AgentState is what a worker with a profile does.
	AgentState = worker.AgentState
	// Selection says which workers are meant.
	Selection = worker.Selection
	// Warning is something that the user should know and that did not make the call
	// fail.
	Warning = worker.Warning
	// NotFoundError names a worker that is not in the registry.
	NotFoundError = store.NotFoundError
)

// The statuses of a worker.
const (
	StatusStarting = worker.StatusStarting
	StatusRunning  = worker.StatusRunning
	StatusStopped  = worker.StatusStopped
	StatusLost     = worker.StatusLost
	StatusUnknown  = worker.StatusUnknown
)

// The sources of an [AgentState].
const (
	SourceHook    = worker.SourceHook
	SourceScreen  = worker.SourceScreen
	SourceProcess = worker.SourceProcess
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
	ErrDeaf        = worker.ErrDeaf
)

// The words of [display], for callers of a [Host].
type (
	// Peek is what a worker showed last.
	Peek = display.Peek
	// Explanation is how a profile reads a worker's screen.
	Explanation = display.Explanation
	// ReadyRequest describes when a worker is ready.
	ReadyRequest = display.ReadyRequest
	// AsksError says that an agent asks something before it takes any other input.
	AsksError = display.AsksError
	// NoProfileError names a profile of agents that does not exist.
	NoProfileError = display.NoProfileError
	// LogsRequest says which output of workers to read.
	LogsRequest = display.LogsRequest
	// LogsEnd says how the reading of one worker's output ended.
	LogsEnd = display.LogsEnd
	// NoRunError says that a worker had fewer runs than were asked for.
	NoRunError = display.NoRunError
)

const (
	// PeekLines is how many lines of output Peek returns when nobody says how many.
	PeekLines = display.PeekLines
	// DefaultReadyTimeout is how long to wait for a worker to be ready when nobody says
	// how long.
	DefaultReadyTimeout = display.DefaultReadyTimeout
)

// The errors of what workers show.
var (
	ErrNotReady = display.ErrNotReady
	ErrBroken   = display.ErrBroken
)

// The words of [input], for callers of a [Host].
type (
	// BoundsOutcome says what came of a pause or of new limits for one worker.
	BoundsOutcome = input.BoundsOutcome
	// SendOutcome says what came of an input to one worker.
	SendOutcome = input.Outcome
	// DeliverRequest is a text for workers.
	DeliverRequest = input.DeliverRequest
	// SignalRequest says which signal to send to whom.
	SignalRequest = input.SignalRequest
)

// HookEvent is the report of a hook of a coding agent.
type HookEvent = courier.HookEvent

// CourierVerb is the argument with which the host's executable becomes a courier; the
// id of the worker follows.
const CourierVerb = courier.Verb

// The words of [kill], for callers of a [Host].
type (
	// KillRequest says how to kill.
	KillRequest = kill.Request
	// KillEvent says that a kill has begun or ended.
	KillEvent = kill.Event
	// KillOutcome says what came of the kill of one worker.
	KillOutcome = kill.Outcome
	// CleanRequest says how to clean.
	CleanRequest = kill.CleanRequest
	// CleanOutcome says what came of the cleaning of one worker.
	CleanOutcome = kill.CleanOutcome
)

// The words of [spawn], for callers of a [Host].
type (
	// SpawnRequest says what worker to start.
	SpawnRequest = spawn.Request
	// WorkspaceRequest says what workspace to make.
	WorkspaceRequest = spawn.WorkspaceRequest
	// RespawnRequest says how to start a worker again.
	RespawnRequest = spawn.RespawnRequest
	// Fallen is a worker that ran until the machine went down.
	Fallen = spawn.Fallen
	// ResurrectRequest says which fallen workers to start, and who is told.
	ResurrectRequest = spawn.ResurrectRequest
	// Resurrection is what became of one fallen worker.
	Resurrection = spawn.Resurrection
	// AdoptRequest says which workers of an engine to adopt.
	AdoptRequest = spawn.AdoptRequest
	// AdoptOutcome says what came of one worker.
	AdoptOutcome = spawn.AdoptOutcome
	// KeptError says why a workspace that was to be removed stays.
	KeptError = spawn.KeptError
)

// LimitsText writes limits as people read them; empty if there are none.
func LimitsText(l swarm.Limits) string { return worker.LimitsText(l) }

// SandboxText writes a sandbox as people read it; empty if there is none.
func SandboxText(s *swarm.Sandbox) string { return worker.SandboxText(s) }
