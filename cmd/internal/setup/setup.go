package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/catalog/signature"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/programs"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Setup holds the inputs of a call from outside.
type Setup struct {
	// Env is the environment of the call, KEY=VALUE.
	Env []string
	// Program is the path of swarm, which plugins are looked for next to; empty:
	// that of the running program.
	Program string
	// Logger is for hosts; nil: nothing is logged.
	Logger hclog.Logger
	// PluginLoggers and Command have the meaning that they have in [host.Options].
	PluginLoggers map[string]hclog.Logger
	Command       string
	// Waiting and Warn have the meaning that they have in [host.Options].
	Waiting, Warn func(text string)
	// Client, ClientIsPerson and Worker have the meaning that they have in [host.Options].
	Client, ClientIsPerson bool
	Worker                 string

	// logErr is what is wrong with the environment that [Setup.LogTo] has read.
	logErr error
}

// Getenv returns the last value of a variable in the environment.
func (s Setup) Getenv(key string) string { return environ.Get(s.Env, key) }

// StateDir returns the absolute path of the state directory: $SWARM_DIR, else that of the
// worker in which the caller runs, else ~/.swarm. In a worker whose state directory was moved,
// $SWARM_DIR counts as its present path. Every program of ours calls it before it
// reads or runs anything in that directory. So it refuses a directory that another user
// could have prepared, see [statedir.Check].
func (s Setup) StateDir() (string, error) {
	dir, err := s.findStateDir()
	if err == nil {
		err = statedir.Check(dir)
	}
	if err != nil {
		return "", err
	}
	return dir, nil
}

func (s Setup) findStateDir() (string, error) {
	if dir := s.Getenv(swarm.EnvDir); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("SWARM_DIR is a relative path (%s), which names another directory wherever swarm is called: set it to an absolute path", dir)
		}
		dir = filepath.Clean(dir)
		if id := s.Getenv(swarm.EnvWorkerID); statedir.IsID(id) {
			// Inside a worker the variable is from when it was started.
			if _, err := os.Lstat(statedir.Dir(dir).RunDir(id)); errors.Is(err, fs.ErrNotExist) {
				dir = cmp.Or(caller.MovedFrom(dir), dir)
			}
		}
		return dir, nil
	}
	if dir := caller.Dir(); dir != "" {
		return dir, nil
	}
	home := s.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("cannot choose the state directory: neither SWARM_DIR nor HOME is set")
	}
	return filepath.Join(home, ".swarm"), nil
}

// Open returns a host that has the settings of cfg; the caller closes it.
func (s Setup) Open(ctx context.Context, cfg config.Config) (*host.Host, error) {
	if s.logErr != nil {
		return nil, s.logErr
	}
	o, err := s.catalogOptions(cfg.Plugins)
	if err != nil {
		return nil, err
	}
	return host.Open(ctx, host.Options{
		Dir:    o.Dir,
		Logger: s.Logger, PluginLoggers: s.PluginLoggers, Command: s.Command,
		Env:             cfg.Env.Fill(s.Env),
		Executable:      o.Executable,
		Plugins:         o.Plugins,
		TrustedPrograms: TrustStore(o.Dir).Hashes(),

		GitHubAPI:   cfg.Install.GitHubAPI,
		PluginKeys:  pluginKeys(cfg.Install.Keys),
		Kill:        new(KillPolicy(cfg.Kill)),
		OutputLimit: cfg.Log.Limit,
		Defaults:    defaults(cfg),
		Workspace:   cfg.Defaults.Workspace,
		ProfileDir:  config.ProfileDir(s.Getenv),
		Waiting:     s.Waiting,
		Warn:        s.Warn,
		KeepEvents:  cfg.History.Keep,
		Notify:      cfg.Team.Notify,

		Answers: s.answers, LeaderAnswers: cfg.Team.Answers == config.AnswersLeader,

		Client: s.Client, ClientIsPerson: s.ClientIsPerson, Worker: s.Worker,
	})
}

// pluginKeys returns the keys of a config, which has checked them.
func pluginKeys(texts map[string]string) map[string]signature.Key {
	keys := make(map[string]signature.Key, len(texts))
	for source, text := range texts {
		if key, err := signature.ParseKey(text); err == nil {
			keys[source] = key
		}
	}
	return keys
}

// defaults returns what a config says of all workers, besides their kill policy and the limit of
// their output.
func defaults(cfg config.Config) spawn.Defaults {
	d := cfg.Defaults
	tmux := map[string]string{}
	for key, value := range map[string]string{"session": d.Session, "socket": d.TmuxSocket} {
		if value != "" {
			tmux[key] = value
		}
	}
	return spawn.Defaults{
		Tags: d.Tags, Retain: d.Retain, Resurrect: d.Resurrect, Limits: Limits(d.Limits), Sandbox: Sandbox(d.Sandbox, false),
		Options: map[string]map[string]string{"tmux": tmux},
	}
}

// Decided returns the settings that the trusted file of a project decides for its workers, in
// place of the user: they hold as well when a worker is started again elsewhere.
func Decided(l *config.Loaded) registry.Own {
	return registry.Own{
		Memory: l.Decides("defaults.memory"), CPUs: l.Decides("defaults.cpus"), PIDs: l.Decides("defaults.pids"),
		Nice: l.Decides("defaults.nice"), IOWeight: l.Decides("defaults.io_weight"), Effort: l.Decides("defaults.limits"),
		Sandbox: l.Decides("defaults.sandbox"), Resurrect: l.Decides("defaults.resurrect"),
	}
}

// Executable returns the path of the running program.
func Executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find where swarm is installed: %w", err)
	}
	return path, nil
}

// NewWorker returns the configured settings of a worker on the named backend, or on the
// configured one if the name is empty.
func NewWorker(l *config.Loaded, backend string) spawn.Request {
	return spawn.Request{Backend: cmp.Or(backend, l.Config.Defaults.Backend), Options: map[string]string{}, Own: Decided(l)}
}

// KillPolicy turns the kill policy of a config into that of a worker.
func KillPolicy(k config.Kill) swarm.KillOptions {
	o := swarm.KillOptions{Signal: k.Signal, Grace: k.Timeout, Force: k.Force}
	if k.Mode == swarm.KillMain.String() {
		o.Mode = swarm.KillMain
	}
	// The config may have "term"; it was checked that this is a signal.
	if name, err := swarm.ParseSignal(k.Signal); err == nil {
		o.Signal = name
	}
	return o
}

// Limits turns the limits of a config into those of a worker.
func Limits(l config.Limits) swarm.Limits {
	return swarm.Limits{
		Memory: l.Memory, CPUs: l.CPUs, PIDs: l.PIDs, Nice: l.Nice, IOWeight: l.IOWeight,
		BestEffort: l.Effort == config.LimitsBestEffort,
	}
}

// Sandbox turns the sandbox of a config into that of a worker: nil if it says that there is
// none, unless one is asked for.
func Sandbox(s config.Sandbox, asked bool) *swarm.Sandbox {
	if !s.Use && !asked {
		return nil
	}
	return &swarm.Sandbox{Network: s.Network, Home: s.Home, Write: slices.Clone(s.Write)}
}

// ParseLimits reads limits such as "memory=2g,cpus=1.5,pids=500,nice=10,io_weight=50" in the
// place of others.
func ParseLimits(text string, into *swarm.Limits) error {
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		var err error
		switch key {
		case "memory":
			into.Memory, err = config.ParseMemory(value)
		case "cpus":
			into.CPUs, err = config.ParseCPUs(value)
		case "pids":
			into.PIDs, err = strconv.Atoi(value)
		case "nice":
			into.Nice, err = strconv.Atoi(value)
		case "io_weight":
			into.IOWeight, err = strconv.Atoi(value)
		default:
			err = errors.New("expected memory, cpus, pids, nice or io_weight")
		}
		if err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
	}
	return into.Check()
}

// Message is the text of err for a person. The sentinels that say no more than
// the text after them are left out, and the errors of contexts are in plain words.
func Message(err error) string {
	return contextWords.Replace(errtext.Line(err, swarm.ErrInvalidSpec, swarm.ErrUnavailable))
}

var contextWords = strings.NewReplacer(
	context.Canceled.Error(), "interrupted", context.DeadlineExceeded.Error(), "it took too long",
)

// Build holds the data that the linker recorded about the running program.
type Build struct {
	Version  string  `json:"version"`
	Commit   *string `json:"commit"`
	Modified bool    `json:"modified"`
	Go       string  `json:"go"`
	OS       string  `json:"os"`
	Arch     string  `json:"arch"`
	Contract int     `json:"contract"`
}

// ReadBuild returns the build data of the running program.
func ReadBuild() Build {
	b := Build{
		Version: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Contract: swarm.ContractVersion,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			if s.Value != "" {
				b.Commit = &s.Value
			}
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b Build) String() string {
	return fmt.Sprintf("swarm %s (plugin contract %d, %s, %s/%s)", b.Version, b.Contract, b.Go, b.OS, b.Arch)
}

// CheckVersion returns an error if swarm-serve, which calls it, is not of the version that swarm
// wants; empty: any version will do.
func CheckVersion(wanted string) error {
	own := ReadBuild().Version
	if wanted == "" || wanted == own {
		return nil
	}
	return fmt.Errorf(programs.Serve+" is of version %s, but swarm of %s: install both anew, with 'make install' or "+
		"'go install github.com/swarmhost/swarm/cmd/...@latest'", own, wanted)
}

// LogTo has the program of that name log to errs what the environment asks for: SWARM_LOG is the
// level of everything, SWARM_LOG_PLUGIN that of single plugins.
func (s *Setup) LogTo(name string, errs io.Writer) {
	if level := hclog.LevelFromString(s.Getenv("SWARM_LOG")); level != hclog.NoLevel {
		s.Logger = newLogger(name, level, errs)
	}
	for entry := range strings.SplitSeq(s.Getenv("SWARM_LOG_PLUGIN"), ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		plugin, text, _ := strings.Cut(entry, "=")
		level := hclog.LevelFromString(text)
		if level == hclog.NoLevel || plugin == "" {
			s.logErr = fmt.Errorf("SWARM_LOG_PLUGIN has '%s': expected NAME=LEVEL, such as tmux=debug, with a level of trace, debug, info, warn, error or off", entry)
			return
		}
		if s.PluginLoggers == nil {
			s.PluginLoggers = map[string]hclog.Logger{}
		}
		s.PluginLoggers[plugin] = newLogger(name, level, errs)
	}
}

func newLogger(name string, level hclog.Level, to io.Writer) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: name, Level: level, Output: safetext.Writer(to)})
}
