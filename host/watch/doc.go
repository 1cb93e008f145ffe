// Package watch finds the ends that no other call has recorded, has them recorded, and acts
// on due events: the end of an owner, of a retention time, of an agent's time without a
// sign of life. It does so once ([Watcher.Collect]) or until its context ends
// ([Watcher.Watch]), in any number of processes at the same time. Package history chooses
// the words of an end.
package watch

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/liveness"
	"github.com/swarmhost/swarm/host/notifier"
	"github.com/swarmhost/swarm/host/question"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/sweep"
)

// Watcher watches the workers of one state directory. Its fields are what it needs.
type Watcher struct {
	Dir      statedir.Dir
	Store    *store.Store
	Plugins  *backend.Plugins
	History  *history.History
	Settler  *settle.Settler
	Killer   *kill.Killer
	Liveness *liveness.Checker
	Sweeper  *sweep.Sweeper
	Display  *display.Reader
	Ruler    *question.Ruler
	Notifier *notifier.Notifier
	Logger   hclog.Logger

	// KeepEvents is for how long events stay in the history; 0: without limit.
	KeepEvents time.Duration
}
