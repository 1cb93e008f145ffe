package config

import "time"

// field is the definition of one key: its documentation, and how to read, apply and show
// it. All knowledge about a key is here.
type field[T any] struct {
	// key is the whole key below the table that T is made of.
	key    string
	doc    string
	schema Schema
	// set stores a value as the TOML library decoded it.
	set  func(into *T, v any) error
	copy func(to, from *T)
	// show returns the value in TOML; empty: there is none.
	show func(of *T) string
}

func newField[T, V any](key string, k kind[V], at func(*T) *V, doc string) field[T] {
	return field[T]{
		key: key, doc: doc, schema: k.schema,
		set: func(into *T, v any) error {
			value, err := k.read(v)
			if err != nil {
				return err
			}
			*at(into) = value
			return nil
		},
		copy: func(to, from *T) { *at(to) = *at(from) },
		show: func(of *T) string { return k.show(*at(of)) },
	}
}

// fields are all keys outside of [plugins] and [workers].
func fields() []field[Config] {
	return []field[Config]{
		newField("defaults.backend", textKind, func(c *Config) *string { return &c.Defaults.Backend },
			"The backend plugin that owns new workers, such as \"process\" or \"tmux\"."),
		newField("defaults.session", textKind, func(c *Config) *string { return &c.Defaults.Session },
			"The tmux session for new windows. Without it swarm uses a session of its own."),
		newField("defaults.tmux_socket", textKind, func(c *Config) *string { return &c.Defaults.TmuxSocket },
			"The tmux server, by name as in \"tmux -L NAME\". Without it: tmux's default one."),
		newField("defaults.workspace", textKind, func(c *Config) *string { return &c.Defaults.Workspace },
			"The workspace plugin that --worktree means: \"worktree\", \"copy\", or another one that is installed."),
		newField("defaults.worktree_dir", textKind, func(c *Config) *string { return &c.Defaults.WorktreeDir },
			"Where workspaces are made, absolute or relative to the directory above the repository, or above the directory that is copied. Without it: \"REPOSITORY-worktrees\" next to the repository, and \"DIRECTORY-copies\" next to a directory."),
		newField("defaults.tags", textsKind, func(c *Config) *[]string { return &c.Defaults.Tags },
			"Tags for every new worker, in addition to its own."),
		newField("defaults.retain", retainKind, func(c *Config) *string { return &c.Defaults.Retain },
			"How long a worker stays listed after its end: \"until-clean\", \"none\", or a duration such as \"1h\"."),
		newField("defaults.resurrect", boolKind, func(c *Config) *bool { return &c.Defaults.Resurrect },
			"Whether \"swarm resurrect --marked\" starts a worker again that ended with the machine."),
		newField("defaults.memory", memoryKind, func(c *Config) *int64 { return &c.Defaults.Limits.Memory },
			"The most memory that all processes of a worker together may hold, swap included, such as \"2GiB\". Without it there is no limit."),
		newField("defaults.cpus", cpusKind, func(c *Config) *float64 { return &c.Defaults.Limits.CPUs },
			"The most CPU time per second that a worker may use: 1.5 is one and a half CPUs. Without it there is no limit."),
		newField("defaults.pids", countKind, func(c *Config) *int { return &c.Defaults.Limits.PIDs },
			"The most processes and threads of a worker. Without it there is no limit."),
		newField("defaults.nice", niceKind, func(c *Config) *int { return &c.Defaults.Limits.Nice },
			"The priority of the processes of workers, from -20 (first) to 19 (last)."),
		newField("defaults.io_weight", weightKind, func(c *Config) *int { return &c.Defaults.Limits.IOWeight },
			"The share of storage bandwidth of a worker, from 1 to 10000, where others have 100."),
		newField("defaults.limits", effortKind, func(c *Config) *string { return &c.Defaults.Limits.Effort },
			"Whether a worker starts if a limit can't be enforced: \"strict\" fails before the worker is started, \"best-effort\" starts it all the same. Without it: \"strict\"."),
		newField("defaults.sandbox", boolKind, func(c *Config) *bool { return &c.Defaults.Sandbox.Use },
			"Whether a worker runs in a sandbox, in which it can write only to its directory."),
		newField("defaults.sandbox_network", networkKind, func(c *Config) *string { return &c.Defaults.Sandbox.Network },
			"The network in sandboxes: that of the machine, \"host\", or \"none\". Without it: \"host\"."),
		newField("defaults.sandbox_home", textKind, func(c *Config) *string { return &c.Defaults.Sandbox.Home },
			"The home directory in sandboxes: a new one that is empty, \"empty\", the real one, \"read-only\", or a directory that takes its place. Without it: \"empty\"."),
		newField("defaults.sandbox_write", pathsKind, func(c *Config) *[]string { return &c.Defaults.Sandbox.Write },
			"Files and directories that workers can change in sandboxes, in addition to their own. A path is relative to this file."),
		newField("kill.signal", signalKind, func(c *Config) *string { return &c.Kill.Signal },
			"The first signal, a name such as \"SIGINT\" or \"RTMIN+1\", or a number. Without it the backend's own gentle way: SIGTERM for a process, closing the window in tmux."),
		newField("kill.timeout", durationKind, func(c *Config) *time.Duration { return &c.Kill.Timeout },
			"How long a worker may take to end: a number of seconds, or \"90s\", \"5m\", \"1h30m\"."),
		newField("kill.force", boolKind, func(c *Config) *bool { return &c.Kill.Force },
			"Whether SIGKILL ends what is still alive after the timeout."),
		newField("kill.mode", choiceKind("tree", "main"), func(c *Config) *string { return &c.Kill.Mode },
			"Which processes get the first signal: every process of the worker (\"tree\"), or its main process alone (\"main\")."),
		newField("log.limit", sizeKind, func(c *Config) *int64 { return &c.Log.Limit },
			"How much output to keep of each worker; what is older is dropped."),
		newField(historyKeep, ageKind, func(c *Config) *time.Duration { return &c.History.Keep },
			"How long events stay in the history, such as \"2160h\" for 90 days. Older ones are removed by \"swarm gc\" and \"swarm watch\". Without it they stay."),
		newField("team.agent_command", commandKind, func(c *Config) *[]string { return &c.Team.AgentCommand },
			"Command of an agent of a team that is spawned without one: a program with its arguments. {prompt}, {model} and {name} are replaced. A path is relative to this file."),
		newField(teamAnswers, choiceKind(AnswersPerson, AnswersLeader), func(c *Config) *string { return &c.Team.Answers },
			"Which callers may answer the questions of a team's agents, and press their keys: only a person (\"person\"), or also the leader of the team (\"leader\")."),
		newField(teamNotify, stopsKind, func(c *Config) *[]string { return &c.Team.Notify },
			"When the leader of a team gets a message about one of its agents: it asks something, its turn has ended, it has reached a limit of its usage, it shows an error. [] means never. The end of an agent is always reported."),
		newField(installAPI, textKind, func(c *Config) *string { return &c.Install.GitHubAPI },
			"The address of the API of GitHub, where \"swarm plugin install github.com/OWNER/REPO\" finds releases."),
		newField(installKeys, keysKind, func(c *Config) *map[string]string { return &c.Install.Keys },
			"Public keys of minisign by the sources of plugins: \"github.com/OWNER/REPO\" or \"github.com/OWNER\", the beginning of a URL, or the name of an index. Files from such a source have to be signed with the key."),
		newField(NotifyUse, pluginsKind, func(c *Config) *[]string { return &c.Notify.Use },
			"The notifier plugins that \"swarm watch --hooks\" delivers events to, such as \"notify\", whose settings say where to."),
		newField(notifyOn, eventsKind, func(c *Config) *[]string { return &c.Notify.On },
			"The events that are delivered to notifiers, as in [hooks]."),
		newField(notifyTags, textsKind, func(c *Config) *[]string { return &c.Notify.Tags },
			"Only events of workers that have one of these tags. Without it: of all workers."),
		newField("env.pass", textsKind, func(c *Config) *[]string { return &c.Env.Pass },
			"Variables that workers get from env.file where the caller does not have them, such as API keys. A name that ends in \"*\" stands for all that begin so."),
		newField("env.file", textKind, func(c *Config) *string { return &c.Env.File },
			"The file of variables that holds the values for env.pass. A path is relative to this file."),
	}
}

// historyKeep is a key that counts in the user's file alone: it removes the history of all
// workers, not only of those of a project.
const historyKeep = "history.keep"

// teamNotify is a key that counts in the user's file alone: hooks, which read no other file,
// report as well.
const teamNotify = "team.notify"

// teamAnswers is a key that counts in the user's file alone: it gives a right.
const teamAnswers = "team.answers"

// configKey is the key of the settings that a plugin knows itself.
const configKey = "config"

// SettingsKey returns the key of the table of a plugin's settings.
func SettingsKey(plugin string) string { return pluginKey(plugin, configKey) }

// The keys of [install] count in the user's file alone: they say whose plugins are believed.
const (
	installAPI  = "install.github_api"
	installKeys = "install.keys"
)

// The keys of [notify] count in the user's file alone, as [hooks] does: the events are those of all
// projects.
const (
	NotifyUse  = "notify.use"
	notifyOn   = "notify.on"
	notifyTags = "notify.tags"
)

func pluginFields() []field[Plugin] {
	return []field[Plugin]{
		newField("command", programKind, func(p *Plugin) *[]string { return &p.Command },
			"Command that starts the plugin: a program, or a program with arguments. A path is relative to this file."),
		newField("version", versionKind, func(p *Plugin) *string { return &p.Version },
			"Which of the installed versions of the plugin to use. Without it: the newest release. It can't be set together with command."),
		newField("sha256", hashKind, func(p *Plugin) *string { return &p.SHA256 },
			"The SHA-256 hash that the program must have."),
		newField("mtls", boolKind, func(p *Plugin) *bool { return &p.MTLS },
			"Whether to encrypt the connection to the plugin."),
		newField("spawn_timeout", ageKind, func(p *Plugin) *time.Duration { return &p.SpawnTimeout },
			"How long the plugin may take to start a worker or to make a workspace; what it began is undone then. Without it: 10m."),
		newField("tools", boolKind, func(p *Plugin) *bool { return &p.Tools },
			"Whether people and agents can call the tools that the plugin offers, as PLUGIN.TOOL."),
		newField(configKey, tableKind, func(p *Plugin) *map[string]any { return &p.Config },
			"The plugin's own settings; see its documentation."),
	}
}
