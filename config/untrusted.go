package config

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// offer is a setting of a project's file that is not trusted.
type offer struct {
	// file holds what the file says, and worker the one of its workers that has the
	// setting; nil for a setting outside of [workers].
	file   *Config
	worker *Worker
	// answer is the rule of the file that has the setting; nil for any other setting.
	answer *Answer
	// have holds what is in effect without the file, and set reports whether the user's
	// file has a key.
	have *Config
	set  func(key string) bool
}

// rule says what a project's file that is not trusted may do with a key.
type rule struct {
	// why is the reason for the rule: of a setting that needs trust, for the user.
	why string
	// refused reports whether the setting needs trust; nil: it never does.
	refused func(offer) bool
	// paths returns the paths that the setting holds; nil: it holds none.
	paths func(offer) []string
	// inside says that the paths are relative to the file, and that no symbolic link may lead
	// them out of its directory.
	inside bool
}

// The words of [Ignored.Problems] for settings that need trust.
const (
	whyLoosens = "it takes protection away"
	whyPath    = "a path that leads out of the project"
	whyLink    = "a path that leads out of the project over a symbolic link"
	whyProgram = "it names a program that swarm starts by itself"
	whyPerson  = "it concerns your own environment"
	whyOwn     = "it counts in your own file alone"
	whyAsk     = "a rule that does more than ask counts in your own file alone"
)

// maxOfferedTimeout is the longest grace that a project may ask for without trust, unless
// the user's own is longer. A longer grace would let a project keep its workers from being killed.
const maxOfferedTimeout = time.Minute

// minOfferedDelay is the shortest delay of restarts without trust: the shim that restarts a
// worker is not within the worker's limits.
const minOfferedDelay = 100 * time.Millisecond

// rules say for every key what a file may do that is not trusted: it can tighten what the
// user's file says of a worker, and never loosen it. A setting of a worker has its own rule or
// that of the same setting of all workers. A key without a rule fails a test, and needs trust.
var rules = map[string]rule{
	"defaults.backend":         {why: whyLoosens, refused: otherBackend},
	"defaults.session":         free("the window of a worker shows only that worker"),
	"defaults.tmux_socket":     free("the name of a tmux server of the same user, which holds no path"),
	"defaults.workspace":       free("an installed plugin, which makes directories and runs nothing in them"),
	"defaults.worktree_dir":    pathRule(misplaced, func(o offer) []string { return []string{o.file.Defaults.WorktreeDir} }),
	"defaults.tags":            free("labels"),
	"defaults.retain":          free("the history stays"),
	"defaults.resurrect":       free("what is started again has the same limits and the same sandbox"),
	"defaults.memory":          {why: whyLoosens, refused: moreMemory},
	"defaults.cpus":            {why: whyLoosens, refused: moreCPUs},
	"defaults.pids":            {why: whyLoosens, refused: morePIDs},
	"defaults.nice":            {why: whyLoosens, refused: lessNice},
	"defaults.io_weight":       {why: whyLoosens, refused: moreIOWeight},
	"defaults.limits":          {why: whyLoosens, refused: lessEffort},
	"defaults.sandbox":         {why: whyLoosens, refused: func(o offer) bool { return !o.sandbox().Use }},
	"defaults.sandbox_network": {why: whyLoosens, refused: func(o offer) bool { return o.sandbox().Network != NetworkNone }},
	"defaults.sandbox_home":    {why: whyLoosens, refused: func(o offer) bool { return o.sandbox().Home != HomeEmpty }},
	"defaults.sandbox_write":   {why: whyLoosens, refused: func(o offer) bool { return len(o.sandbox().Write) > 0 }},
	"kill.signal":              {why: whyLoosens, refused: weakSignal},
	"kill.timeout":             {why: whyLoosens, refused: slowKill},
	"kill.force":               {why: whyLoosens, refused: func(o offer) bool { return !o.kill().Force && o.have.Kill.Force }},
	"kill.mode":                {why: whyLoosens, refused: func(o offer) bool { return o.kill().Mode == "main" && o.have.Kill.Mode != "main" }},
	"log.limit":                {why: whyLoosens, refused: func(o offer) bool { return o.file.Log.Limit > o.have.Log.Limit }},
	historyKeep:                free(whyOwn),
	"team.agent_command":       always(whyProgram),
	teamAnswers:                free(whyOwn),
	teamNotify:                 free(whyOwn),
	installAPI:                 free(whyOwn),
	installKeys:                free(whyOwn),
	NotifyUse:                  free(whyOwn),
	notifyOn:                   free(whyOwn),
	notifyTags:                 free(whyOwn),
	"env.pass":                 always(whyPerson),
	"env.file":                 always(whyPerson),

	"workers.*.command":           free("what 'swarm up' runs, as make runs a Makefile"),
	"workers.*.cwd":               within(func(o offer) []string { return []string{o.worker.Dir} }),
	"workers.*.env":               free("the sandbox and the limits do not depend on variables"),
	"workers.*.env_file":          within(func(o offer) []string { return o.worker.EnvFiles }),
	"workers.*.options":           pathRule(leadsOut, func(o offer) []string { return optionPaths(o.worker.Options) }),
	"workers.*.workspace":         free("an installed plugin, which makes a directory in the place that workspace.dir names"),
	"workers.*.workspace.plugin":  free("an installed plugin, which makes a directory in the place that workspace.dir names"),
	"workers.*.workspace.branch":  free("a branch of the repository that the worker is in"),
	"workers.*.workspace.dir":     pathRule(misplaced, func(o offer) []string { return []string{o.worker.Workspace.Dir} }),
	"workers.*.workspace.options": pathRule(leadsOut, func(o offer) []string { return optionPaths(o.worker.Workspace.Options) }),
	"workers.*.worktree":          free("a worktree of the repository, in the directory that worktree.dir names"),
	"workers.*.worktree.branch":   free("a branch of the repository that the worker is in"),
	"workers.*.worktree.dir":      pathRule(misplaced, func(o offer) []string { return []string{o.worker.Workspace.Dir} }),
	"workers.*.restart":           free("a kill ends it, whatever its policy says"),
	"workers.*.restart.when":      free("a kill ends it, whatever its policy says"),
	"workers.*.restart.min_delay": {why: whyLoosens, refused: func(o offer) bool { return o.worker.Restart.MinDelay < minOfferedDelay }},
	"workers.*.restart.max_delay": free("it is at least min_delay"),
	"workers.*.restart.budget":    free("the delay bounds how often it is restarted"),
	"workers.*.restart.window":    free("the delay bounds how often it is restarted"),
	"workers.*.ready":             free("it only delays other workers of the file"),
	"workers.*.ready.pattern":     free("it only delays other workers of the file"),
	"workers.*.ready.timeout":     free("it only delays other workers of the file"),
	"workers.*.depends_on":        free("it names workers of the same file"),
	"workers.*.stdin":             free("a pipe that only 'swarm send' writes to"),
	"workers.*.log_limit":         {why: whyLoosens, refused: func(o offer) bool { return o.worker.LogLimit > o.have.Log.Limit }},

	"plugins.*.command":       always(whyProgram),
	"plugins.*.version":       always(whyProgram),
	"plugins.*.sha256":        always(whyProgram),
	"plugins.*.mtls":          always(whyProgram),
	"plugins.*.spawn_timeout": always(whyProgram),
	"plugins.*.tools":         always(whyProgram),
	"plugins.*.config":        always(whyProgram),

	// Of the rules of a project's file, those that ask count, trusted or not.
	"answers.profile": free("it narrows down a rule that asks"),
	"answers.tool":    free("it narrows down a rule that asks"),
	"answers.command": free("it narrows down a rule that asks"),
	"answers.worker":  free("it narrows down a rule that asks"),
	"answers.project": free("it narrows down a rule that asks"),
	"answers.answer":  {why: whyAsk, refused: func(o offer) bool { return o.answer == nil || o.answer.Answer != AnswerAsk }},
	"answers.for":     always(whyOwn),

	// Tables [hooks] count in the user's file alone.
	"hooks.on":      always(whyOwn),
	"hooks.tags":    always(whyOwn),
	"hooks.command": always(whyOwn),
	"hooks.timeout": always(whyOwn),
}

func free(why string) rule { return rule{why: why} }

func always(why string) rule {
	return rule{why: why, refused: func(offer) bool { return true }}
}

// pathRule is the rule of paths, of which out reports whether one leads out of the project.
func pathRule(out func(string) bool, paths func(offer) []string) rule {
	return rule{why: whyPath, paths: paths, refused: func(o offer) bool { return slices.ContainsFunc(paths(o), out) }}
}

// within is the rule of paths that are relative to the file.
func within(paths func(offer) []string) rule {
	r := pathRule(leadsOut, paths)
	r.inside = true
	return r
}

func ruleOf(key string) rule {
	setting := strings.TrimPrefix(key, "workers.*.")
	for _, key := range []string{key, setting, "defaults." + setting} {
		if r, ok := rules[key]; ok {
			return r
		}
	}
	return always(whyLoosens)
}

func (r rule) needsTrust(o offer) bool { return r.refused != nil && r.refused(o) }

func (o offer) limits() Limits {
	if o.worker != nil {
		return o.worker.Limits
	}
	return o.file.Defaults.Limits
}

func (o offer) sandbox() Sandbox {
	if o.worker != nil {
		return o.worker.Sandbox
	}
	return o.file.Defaults.Sandbox
}

func (o offer) kill() Kill {
	if o.worker != nil {
		return o.worker.Kill
	}
	return o.file.Kill
}

// otherBackend reports whether the setting leaves a backend that the user chose because it
// keeps workers from the machine. The backends process and tmux do not.
func otherBackend(o offer) bool {
	name := o.file.Defaults.Backend
	if o.worker != nil {
		name = o.worker.Backend
	}
	mine := o.have.Defaults.Backend
	return o.set("defaults.backend") && mine != "process" && mine != "tmux" && name != mine
}

func above[V cmp.Ordered](value, limit V) bool {
	var none V
	return limit != none && value > limit
}

func moreMemory(o offer) bool { return above(o.limits().Memory, o.have.Defaults.Limits.Memory) }
func moreCPUs(o offer) bool   { return above(o.limits().CPUs, o.have.Defaults.Limits.CPUs) }
func morePIDs(o offer) bool   { return above(o.limits().PIDs, o.have.Defaults.Limits.PIDs) }
func lessNice(o offer) bool   { return o.limits().Nice < o.have.Defaults.Limits.Nice }

// usualIOWeight is the weight of processes without one.
const usualIOWeight = 100

func moreIOWeight(o offer) bool {
	return o.limits().IOWeight > cmp.Or(o.have.Defaults.Limits.IOWeight, usualIOWeight)
}

// lessEffort reports whether the setting lets a worker start without limits that the user
// asks for.
func lessEffort(o offer) bool {
	mine := o.have.Defaults.Limits
	strict := mine.Effort != LimitsBestEffort && (o.set("defaults.limits") || mine != Limits{})
	return strict && o.limits().Effort == LimitsBestEffort
}

// ending are the signals that end a program which does not handle them, on every system.
var ending = []string{
	"ABRT", "ALRM", "BUS", "FPE", "HUP", "ILL", "INT", "KILL", "PIPE", "PROF", "QUIT", "SEGV", "SYS", "TERM", "TRAP",
	"USR1", "USR2", "VTALRM", "XCPU", "XFSZ", "1", "2", "3", "6", "9", "14", "15",
}

func weakSignal(o offer) bool {
	signal := o.kill().Signal
	return signal != "" && signal != o.have.Kill.Signal &&
		!slices.Contains(ending, strings.TrimPrefix(strings.ToUpper(signal), "SIG"))
}

func slowKill(o offer) bool { return o.kill().Timeout > max(o.have.Kill.Timeout, maxOfferedTimeout) }

// optionPaths returns the paths among the options of a plugin, such as the directories that
// are mounted into a container. A value may be a list of them.
func optionPaths(options map[string]string) []string {
	var paths []string
	for _, key := range sortedKeys(options) {
		for part := range strings.FieldsFuncSeq(options[key], func(r rune) bool { return r == ',' || r == ':' || r == '=' }) {
			part = strings.TrimSpace(part)
			if strings.HasPrefix(part, "/") || strings.HasPrefix(part, "~") || strings.HasPrefix(part, ".") {
				paths = append(paths, part)
			}
		}
	}
	return paths
}
