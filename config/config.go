package config

import "time"

// Config holds the settings of all files, on top of [Default].
type Config struct {
	Defaults Defaults
	Kill     Kill
	Log      Log
	History  History
	Team     Team
	Env      Env
	Install  Install
	Notify   Notify
	// Plugins holds the tables [plugins.NAME].
	Plugins map[string]Plugin
	// Workers holds the tables [workers.NAME] of the project's file.
	Workers map[string]Worker
	// Hooks holds the tables [hooks.NAME] of the user's file; the keys of [hooks] itself
	// make the hook [DefaultHook].
	Hooks map[string]Hook
	// Answers holds the tables [[answers]] of the user's file, and those of the project's file
	// that ask.
	Answers []Answer
}

// Defaults are the settings of spawn without flags.
type Defaults struct {
	// Backend is the name of a backend plugin.
	Backend string
	// Session is the tmux session; empty: one of swarm's own.
	Session string
	// TmuxSocket is the name of a tmux server (tmux -L); empty: the default one.
	TmuxSocket string
	// Workspace is the name of the plugin that makes workspaces.
	Workspace string
	// WorktreeDir is where workspaces are made, absolute or relative to the
	// parent of their base, such as a repository; empty: where the plugin makes them.
	WorktreeDir string
	// Tags are given to every worker.
	Tags []string
	// Retain is how long a worker stays listed after its end: "until-clean",
	// "none", or a duration as [time.ParseDuration] reads it.
	Retain string
	// Resurrect says that workers are to be started again after the machine was.
	Resurrect bool
	// Limits are those of workers without their own.
	Limits Limits
	// Sandbox is that of workers without their own.
	Sandbox Sandbox
}

// Sandbox says what a worker is kept from.
type Sandbox struct {
	// Use says that there is one.
	Use bool
	// Network is one of the words, or empty. Home is one of the words, an absolute path, or
	// empty.
	Network, Home string
	// Write are absolute paths.
	Write []string
}

// locate makes the paths absolute, as those of a file in dir.
func (s *Sandbox) locate(dir, home string) {
	switch s.Home {
	case "", HomeEmpty, HomeReadOnly:
	default:
		s.Home = absolute(s.Home, dir, home)
	}
	for i, path := range s.Write {
		s.Write[i] = absolute(path, dir, home)
	}
}

// The words for Sandbox.Network and Sandbox.Home.
const (
	NetworkHost  = "host"
	NetworkNone  = "none"
	HomeEmpty    = "empty"
	HomeReadOnly = "read-only"
)

// Limits say what a worker may use; 0 means no limit, or the default of the system.
type Limits struct {
	// Memory is in bytes.
	Memory int64
	// CPUs is the CPU time per second.
	CPUs float64
	// PIDs is the number of processes and threads, Nice the priority from -20 to 19,
	// IOWeight the share of storage bandwidth from 1 to 10000.
	PIDs, Nice, IOWeight int
	// Effort is one of the words, or empty.
	Effort string
}

// The words for Limits.Effort.
const (
	LimitsStrict     = "strict"
	LimitsBestEffort = "best-effort"
)

// Env is what workers get of a person's environment where the caller lacks it, as MCP
// clients do that start their servers with a bare environment.
type Env struct {
	// Pass are the names of variables. A name that ends in "*" stands for all that
	// begin so. Variables of swarm's own are never passed.
	Pass []string
	// File is the path of a file of variables, absolute; empty: none.
	File string
	// Values are the variables of File that Pass names, KEY=VALUE.
	Values []string
}

// Kill is the kill policy of new workers.
type Kill struct {
	// Signal is the first signal; empty: the backend's own gentle way.
	Signal string
	// Timeout is the grace.
	Timeout time.Duration
	// Force says to end the remaining processes with SIGKILL after the grace.
	Force bool
	// Mode is "tree" or "main".
	Mode string
}

// Log says how much output to keep.
type Log struct {
	// Limit is in bytes for each worker.
	Limit int64
}

// History says which events to keep.
type History struct {
	// Keep is for how long events are kept; 0: without limit.
	Keep time.Duration
}

// Team holds the default settings of agents of teams.
type Team struct {
	// AgentCommand starts an agent; nil: it has to be named for each.
	AgentCommand []string
	// Answers says who may answer the questions of agents, in addition to a person: one of
	// the words.
	Answers string
	// Notify are the states of an agent that its leader gets a message about: some of the
	// words of [Stops].
	Notify []string
}

// Install holds the settings of "swarm plugin install".
type Install struct {
	// GitHubAPI is the address of the API of GitHub.
	GitHubAPI string
	// Keys are public keys of minisign by the sources of plugins.
	Keys map[string]string
}

// Plugin holds the settings of one plugin.
type Plugin struct {
	// Command starts the plugin; nil: the plugin is found by its name.
	Command []string
	// Version picks one of the versions that were installed by "swarm plugin
	// install"; empty: the newest release of them, or where else the plugin is found. It
	// is empty if Command is set.
	Version string
	// SHA256 is the hash that the executable must have, in hexadecimal; empty:
	// it is not checked.
	SHA256 string
	// MTLS turns on mutual TLS between swarm and the plugin.
	MTLS bool
	// SpawnTimeout is how long the plugin may take to start a worker or to make a workspace; 0: the
	// host's own limit.
	SpawnTimeout time.Duration
	// Tools says that people and agents can call the tools that the plugin offers.
	Tools bool
	// Config is the plugin's own table.
	Config map[string]any
	// Source is [SourceUser], or the path of the project's file if that sets anything of it.
	Source string
}

// SourceUser is the source of a plugin that only the user's own file sets.
const SourceUser = "user"

// The words for Defaults.Retain.
const (
	RetainUntilClean = "until-clean"
	RetainNone       = "none"
)

// Default returns the values of settings that no file sets.
func Default() Config {
	return Config{
		Defaults: Defaults{Backend: "process", Workspace: "worktree", Retain: RetainUntilClean},
		Kill:     Kill{Timeout: 5 * time.Second, Force: true, Mode: "tree"},
		Log:      Log{Limit: 64 << 20},
		Team:     Team{Answers: AnswersPerson, Notify: Stops()},
		Install:  Install{GitHubAPI: "https://api.github.com"},
		Notify:   Notify{On: []string{"failed", "lost", "crash-loop", "blocked", "limited", "broken"}},
	}
}
