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
	// Worker is a snapshot of a worker.
	Worker = worker.Worker
	// WorkerStatus is the status of a worker in one word.
	WorkerStatus = worker.Status
	// AgentState is the activity of a worker with a profile.
	AgentState = worker.AgentState
	// Selection selects workers.
	Selection = worker.Selection
	// Warning reports a problem that did not make the call fail.
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
	// Peek is the last screen or output of a worker.
	Peek = display.Peek
	// Explanation is how a profile reads a worker's screen.
	Explanation = display.Explanation
	// ReadyRequest describes when a worker is ready.
	ReadyRequest = display.ReadyRequest
	// AsksError reports that an agent waits for an answer and takes no other input.
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
	// PeekLines is the default number of output lines in a [Peek].
	PeekLines = display.PeekLines
	// DefaultReadyTimeout limits the wait for a worker to become ready by default.
	DefaultReadyTimeout = display.DefaultReadyTimeout
)

// The errors of [display].
var (
	ErrNotReady = display.ErrNotReady
	ErrBroken   = display.ErrBroken
)

// The words of [input], for callers of a [Host].
type (
	// BoundsOutcome is the result of a pause or of new limits for one worker.
	BoundsOutcome = input.BoundsOutcome
	// SendOutcome is the result of sending input to one worker.
	SendOutcome = input.Outcome
	// DeliverRequest is a text for workers.
	DeliverRequest = input.DeliverRequest
	// SignalRequest names a signal and the workers that receive it.
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
	// KillOutcome is the result of killing one worker.
	KillOutcome = kill.Outcome
	// CleanRequest says how to clean.
	CleanRequest = kill.CleanRequest
	// CleanOutcome is the result of cleaning one worker.
	CleanOutcome = kill.Outcome
)

// The words of [spawn], for callers of a [Host].
type (
	// SpawnRequest describes the worker to start.
	SpawnRequest = spawn.Request
	// WorkspaceRequest describes the workspace to create.
	WorkspaceRequest = spawn.WorkspaceRequest
	// RespawnRequest says how to start a worker again.
	RespawnRequest = spawn.RespawnRequest
	// Fallen is a worker that ran until the machine went down.
	Fallen = spawn.Fallen
	// ResurrectRequest limits which fallen workers to start, and has the callbacks to notify.
	ResurrectRequest = spawn.ResurrectRequest
	// Resurrection is the result of restarting one fallen worker.
	Resurrection = spawn.Resurrection
	// AdoptRequest says which workers of an engine to adopt.
	AdoptRequest = spawn.AdoptRequest
	// AdoptOutcome is the result of adopting one worker.
	AdoptOutcome = spawn.AdoptOutcome
	// KeptError reports why a workspace was not removed.
	KeptError = spawn.KeptError
)

// LimitsText writes limits for people; it is empty if there are none.
func LimitsText(l swarm.Limits) string { return worker.LimitsText(l) }

// SandboxText writes a sandbox as people read it; empty if there is none.
func SandboxText(s *swarm.Sandbox) string { return worker.SandboxText(s) }
