package host

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/answers"
	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/signature"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Options are the dependencies of a [Host].
type Options struct {
	// Dir is the state directory, absolute. It is made when something has to be
	// written.
	Dir string
	// Logger gets messages for debugging; it may be nil.
	Logger hclog.Logger
	// PluginLoggers get what single plugins log, in place of Logger.
	PluginLoggers map[string]hclog.Logger
	// Command is the command of swarm that opens the host, such as "swarm spawn", without its
	// arguments; empty: unknown. It is noted with what plugins say.
	Command string
	// Env is the caller's environment, KEY=VALUE. Local workers get it, less what
	// a worker must not have.
	Env []string
	// Client says that the calling process serves its parent, as an MCP server does, and
	// calls on its behalf. It then has the rights of an agent, a leader or a person only if
	// the parent provably acts for that caller alone, see [Host.Caller].
	Client bool
	// ClientIsPerson is the user's word that the client acts for them alone. It counts
	// only outside of workers.
	ClientIsPerson bool
	// Worker is the id of the worker on whose behalf the calling process makes all calls,
	// from outside of it; empty: it makes its own calls. See [caller.Finder].
	Worker string
	// Executable is the path of swarm itself: plugins and the shim are looked
	// for next to it, then in ../libexec/swarm, then, plugins only, in the
	// plugins folder of Dir, then in the PATH of Env.
	Executable string
	// Plugins are settings of plugins by name.
	Plugins map[string]catalog.Config
	// TrustedPrograms are the SHA-256 hashes in hex of the programs of trusted projects, by path.
	TrustedPrograms map[string]string
	// GitHubAPI is the address of the API of GitHub, for releases with plugins.
	GitHubAPI string
	// PluginKeys are the public keys of minisign that plugins have to be signed with, by sources,
	// see [source.Resolver].
	PluginKeys map[string]signature.Key
	// Kill is the kill policy of workers that are spawned without one; nil:
	// [DefaultKill].
	Kill *swarm.KillOptions
	// OutputLimit is how many bytes of output to keep of workers that are
	// spawned without a limit; 0: the backend's default.
	OutputLimit int64
	// Defaults are the other settings of all workers, however they are spawned.
	Defaults spawn.Defaults
	// Workspace is the name of the plugin that makes workspaces for which none is named.
	Workspace string
	// ProfileDir is where the user's profiles of agents are; empty: nowhere.
	ProfileDir string
	// Answers returns the person's rules that answer questions of agents, for a worker that
	// belongs to such directories; nil: there are none. An error means that nothing may be
	// answered by rules.
	Answers func(directories []string) ([]answers.Rule, error)
	// LeaderAnswers says that the leader of a team may answer what its agents ask, in addition
	// to a person.
	LeaderAnswers bool
	// Notify are the stops of agents that the leader of their team is notified of, see
	// [team.Stop].
	Notify []string
	// NoWake says that calls wake no agent, and that no later call wakes one for what they
	// add.
	NoWake bool
	// Waiting, if not nil, is called with what a call waits for that takes longer than
	// usual, or may: a plugin that is being debugged. It may be called from any goroutine.
	Waiting func(text string)
	// Warn, if not nil, is called with what a user should know, one line each. It may be
	// called from any goroutine.
	Warn func(text string)
	// Starter starts the plugins; nil: package launch does. Tests pass fakes.
	Starter backend.Starter
	// KeepEvents is for how long events stay in the history; 0: without limit.
	KeepEvents time.Duration
}

// DefaultKill returns the kill policy that holds unless a caller says otherwise: the
// backend's own gentle way, to the whole tree, then by force after
// [swarm.DefaultGrace].
func DefaultKill() swarm.KillOptions {
	return swarm.KillOptions{Grace: swarm.DefaultGrace, Force: true, Mode: swarm.KillTree}
}
