package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/config/pluginlock"
	"github.com/swarmhost/swarm/shared/lazyregexp"
	"github.com/swarmhost/swarm/shared/trust"
)

// Options say what to load.
type Options struct {
	// User and Project are paths of files, absolute; empty: none. A file that does not
	// exist counts as an empty one.
	User, Project string
	// Content is what Project holds, if it was read already; nil: it is read.
	Content []byte
	// Home takes the place of a leading ~ in paths.
	Home string
	// Trusted reports whether the project's file, with this content, may name
	// programs that swarm starts by itself; nil: it may not.
	Trusted func(path string, content []byte) bool
	// Checks check values that have the right type.
	Checks Checks
}

// Loaded is the content of the files.
type Loaded struct {
	Config Config
	// Origins reports where a key was set; a key that is not in it has its
	// default.
	Origins map[string]Position
	// below are the positions of the keys in tables that only plugins know: their settings, and the
	// options of workers.
	below map[string]Position
	// Ignored are the settings of a project's file that are not used: the file is not
	// trusted, or they count in the user's file alone.
	Ignored []Ignored
	// Refused are the files that are not used at all.
	Refused []Refused
	// concealed is the path of a project's file of which nothing is quoted.
	concealed string
	// lock is the lock of a trusted project, see [Loaded.ApplyLock].
	lock *pluginlock.Lock
	// unlocked are the plugins without the versions of the lock; nil: it changes none.
	unlocked map[string]Plugin
	// untrusted is the path of a project's file that is not trusted, and trusted that of one that
	// is.
	untrusted, trusted string
}

// Refused is a file that breaks the owner rule of package trust: others have
// written it, or can.
type Refused struct {
	Path string
	// User says that it is the user's file; a project's can be accepted by its
	// content.
	User bool
	// Reason is a sentence.
	Reason string
}

// Advice returns a hint for the user.
func (r Refused) Advice() string {
	if r.User {
		return "it may name programs to run, so only you or root may be able to write it, or a directory above it"
	}
	return "read it, then run 'swarm config trust' to use it as it is now"
}

// Ignored is a key that is not used.
type Ignored struct {
	// Key is that of a setting, or of a whole table: "plugins.NAME".
	Key string
	At  Position
	// Paths are the paths of a worker's setting, absolute.
	Paths []string
	// UserOnly says that the setting counts in the user's file alone, whether or not the
	// project's file is trusted.
	UserOnly bool
	// Why is the reason why the setting needs trust; empty with UserOnly.
	Why string
}

// Reason says in a sentence that the setting is not used, and why.
func (i Ignored) Reason() string {
	if i.UserOnly {
		return fmt.Sprintf("%s: %s is not used in a project's file: it counts in your own file alone", i.At, i.Key)
	}
	return fmt.Sprintf("%s: %s is not used: the file is not trusted", i.At, i.Key)
}

// Advice returns a hint for the user.
func (i Ignored) Advice() string {
	if i.UserOnly {
		return "to use it, copy it to ~/.config/swarm/config.toml"
	}
	return "read it, then run 'swarm config trust'"
}

// Decides reports whether the trusted file of a project sets a key, in place of the user.
func (l *Loaded) Decides(key string) bool {
	at, set := l.Origins[key]
	return set && l.trusted != "" && at.File == l.trusted
}

// Load reads the files; the project's takes precedence, key by key. The error is a
// [Problems] with all their mistakes; the valid settings are in Loaded, which is never nil.
func Load(o Options) (*Loaded, error) {
	l := &Loaded{Config: Default(), Origins: map[string]Position{}}
	var problems Problems
	for _, path := range []string{o.User, o.Project} {
		if path == "" {
			continue
		}
		content := o.Content
		var err error
		if content == nil || path != o.Project {
			content, err = read(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		trusted := path == o.User || err == nil && o.Trusted != nil && o.Trusted(path, content)
		// A file that others can create there must not even cause an error.
		if broken, ok := trust.As(trust.Path(path)); ok && (path == o.User || !trusted) {
			l.Refused = append(l.Refused, Refused{Path: path, User: path == o.User, Reason: broken.Error()})
			continue
		}
		if err != nil {
			problems = append(problems, Problem{At: Position{File: path}, Text: err.Error()})
			continue
		}
		if path == o.Project && secretive(path) {
			l.concealed = path
		}
		problems = append(problems, l.add(path, string(content), trusted, o)...)
	}
	problems = append(problems, l.readEnv()...)
	l.fillIn()
	if problems == nil {
		return l, nil
	}
	return l, l.Conceal(problems)
}

// add reads one file on top of what is there.
func (l *Loaded) add(path, src string, trusted bool, o Options) Problems {
	own := Config{Plugins: map[string]Plugin{}, Workers: map[string]Worker{}, Hooks: map[string]Hook{}}
	// The parser skips a byte order mark, which would shift the positions.
	src = strings.TrimPrefix(src, "\ufeff")
	d := decoder{source: newSource(path, src), user: path == o.User, into: &own, origins: map[string]Position{}, checks: o.Checks}
	d.decode()
	if at, set := d.origins["hooks"]; set && !d.user {
		l.Ignored = append(l.Ignored, Ignored{Key: "hooks", At: at, UserOnly: true})
		delete(d.origins, "hooks")
	}
	for _, key := range []string{historyKeep, teamAnswers, teamNotify, installAPI, installKeys, NotifyUse, notifyOn, notifyTags} {
		at, set := d.origins[key]
		if !set || d.user {
			continue
		}
		l.Ignored = append(l.Ignored, Ignored{Key: key, At: at, UserOnly: true})
		own.History, own.Team.Answers, own.Team.Notify, own.Install = l.Config.History, l.Config.Team.Answers, l.Config.Team.Notify, l.Config.Install
		own.Notify = l.Config.Notify
		if of, set := l.Origins[key]; set {
			d.origins[key] = of
		}
	}
	if !d.user {
		l.Ignored = append(l.Ignored, own.dropAnswers(d.origins, &l.Config)...)
	}
	dir := filepath.Dir(path)
	if !trusted {
		l.untrusted = path
		l.ignore(&own, d.origins, dir, o.Home)
	}
	own.locate(dir, o.Home)
	if !trusted {
		own.settle(d.origins)
	}
	adopt(l, d.origins, "", fields(), &l.Config, &own)
	if trusted && !d.user {
		l.trusted = path
	}
	for name, p := range own.Plugins {
		into := l.Config.Plugins[name]
		adopt(l, d.origins, pluginKey(name, ""), pluginFields(), &into, &p)
		l.place(&d, SettingsKey(name))
		if _, set := d.origins[pluginKey(name, "command")]; set {
			into.Version = p.Version
		} else if p.Version != "" {
			into.Command = nil
		}
		if into.Source = SourceUser; !d.user {
			into.Source = path
		}
		if l.Config.Plugins == nil {
			l.Config.Plugins = map[string]Plugin{}
		}
		l.Config.Plugins[name] = into
	}
	// The user's file alone has hooks, the project's alone has workers.
	if len(own.Hooks) > 0 {
		l.Config.Hooks = own.Hooks
	}
	for name, h := range own.Hooks {
		adopt(l, d.origins, hookKey(name, "")+".", hookFields(), &h, &h)
	}
	if len(own.Answers) > 0 {
		l.Config.Answers = append(l.Config.Answers, own.Answers...)
		if _, set := l.Origins[answersKey]; !set {
			l.Origins[answersKey] = d.origins[answersKey]
		}
	}
	if len(own.Workers) > 0 {
		l.Config.Workers = own.Workers
	}
	for name := range own.Workers {
		l.place(&d, WorkerKey(name, "options"))
	}
	for key, at := range d.origins {
		if strings.HasPrefix(key, "workers.") {
			l.Origins[key] = at
		}
	}
	return d.problems
}

// place notes where a file sets the keys of a table, which replaces all of the file before.
func (l *Loaded) place(d *decoder, table string) {
	if _, set := d.origins[table]; !set {
		return
	}
	maps.DeleteFunc(l.below, func(key string, _ Position) bool { return strings.HasPrefix(key, table+".") })
	for key, spot := range d.places {
		if strings.HasPrefix(key, table+".") {
			if l.below == nil {
				l.below = map[string]Position{}
			}
			l.below[key] = d.source.position(spot.Key)
		}
	}
}

// Inside returns the whole key of what is in a table that only a plugin knows, such as "tls.ca_cert"
// or "servers[1].path" in [SettingsKey], and where it is set; what is not there has the position of
// the table that it would be in.
func (l *Loaded) Inside(table, path string) (key string, at Position) {
	key = table
	if path != "" {
		key += "." + path
	}
	place := elementRegexp().ReplaceAllString(key, "")
	for {
		if at, ok := l.below[place]; ok {
			return key, at
		}
		end := strings.LastIndexByte(place, '.')
		if end <= len(table) {
			return key, l.Origins[table]
		}
		place = place[:end]
	}
}

// elementRegexp matches the index of an element of a list.
var elementRegexp = lazyregexp.New(`\[\d+\]`)

// adopt copies the fields with one of the origins, whose keys begin with prefix.
func adopt[T any](l *Loaded, origins map[string]Position, prefix string, fields []field[T], into, from *T) {
	for _, f := range fields {
		if at, set := origins[prefix+f.key]; set {
			f.copy(into, from)
			l.Origins[prefix+f.key] = at
		}
	}
}

// locate makes the paths of a file in dir absolute, except those of worktrees.
func (c *Config) locate(dir, home string) {
	c.Defaults.WorktreeDir = expandHome(c.Defaults.WorktreeDir, home)
	c.Defaults.Sandbox.locate(dir, home)
	c.Team.AgentCommand = program(c.Team.AgentCommand, dir, home)
	c.Env.File = absolute(c.Env.File, dir, home)
	for name, p := range c.Plugins {
		p.Command = program(p.Command, dir, home)
		c.Plugins[name] = p
	}
	for name, h := range c.Hooks {
		h.Command = program(h.Command, dir, home)
		c.Hooks[name] = h
	}
	for i := range c.Answers {
		c.Answers[i].locate(dir, home)
	}
	for name, w := range c.Workers {
		w.Dir = absolute(w.Dir, dir, home)
		for i, path := range w.EnvFiles {
			w.EnvFiles[i] = absolute(path, dir, home)
		}
		w.Workspace.Dir = expandHome(w.Workspace.Dir, home)
		w.Sandbox.locate(dir, home)
		c.Workers[name] = w
	}
}

// settle replaces the working directories of workers by those to which their links lead now,
// which is in the project: a link that is changed later leads nowhere else.
func (c *Config) settle(origins map[string]Position) {
	for name, w := range c.Workers {
		if _, set := origins[WorkerKey(name, "cwd")]; !set {
			continue
		}
		if real, err := realPath(w.Dir); err == nil {
			w.Dir = real
			c.Workers[name] = w
		}
	}
}

// ignore records the settings that an untrusted file may not make, and removes them.
func (l *Loaded) ignore(c *Config, origins map[string]Position, dir, home string) {
	o := offer{file: c, have: &l.Config, set: func(key string) bool { _, set := l.Origins[key]; return set }}
	for _, f := range fields() {
		r := ruleOf(f.key)
		if at, set := origins[f.key]; set && r.needsTrust(o) {
			l.Ignored = append(l.Ignored, Ignored{Key: f.key, At: at, Why: r.why})
			delete(origins, f.key)
		}
	}
	for _, name := range sortedKeys(c.Workers) {
		w := c.Workers[name]
		said := w
		o.worker = &said
		for _, f := range workerFields() {
			key := WorkerKey(name, f.key)
			at, set := origins[key]
			if !set {
				continue
			}
			r := ruleOf("workers.*." + f.key)
			i := Ignored{Key: key, At: at, Why: r.why}
			if r.paths != nil {
				for _, path := range r.paths(o) {
					i.Paths = append(i.Paths, absolute(path, dir, home))
				}
			}
			switch {
			case r.needsTrust(o):
			case r.inside && slices.ContainsFunc(i.Paths, func(path string) bool { return strays(path, dir) }):
				i.Why = whyLink
			default:
				continue
			}
			l.Ignored = append(l.Ignored, i)
			f.copy(&w, &Worker{})
			delete(origins, key)
		}
		c.Workers[name] = w
	}
	for _, name := range sortedKeys(c.Plugins) {
		for _, f := range pluginFields() {
			if at, set := origins[pluginKey(name, f.key)]; set {
				l.Ignored = append(l.Ignored, Ignored{Key: joined([]string{"plugins", name}), At: at, Why: whyProgram})
				break
			}
		}
	}
	c.Plugins = nil
}

func pluginKey(name, key string) string { return joined([]string{"plugins", name}) + "." + key }

// program returns a command whose program, if it is a path, is relative to a file.
// A bare name is left to the PATH.
func program(command []string, dir, home string) []string {
	command = slices.Clone(command)
	if len(command) > 0 && strings.Contains(command[0], "/") {
		command[0] = absolute(command[0], dir, home)
	}
	return command
}

// absolute returns a path of a file, which is relative to that file and not to
// where swarm runs.
func absolute(path, dir, home string) string {
	path = expandHome(path, home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path
}

func expandHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); (ok || path == "~") && home != "" {
		return filepath.Join(home, strings.TrimPrefix(rest, "~"))
	}
	return path
}
