package spawn

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

type plan struct {
	rec registry.Record
	// backend and workspace are the plugins; workspace is zero if none was asked
	// for.
	backend, workspace catalog.Entry
	// owner and maker are the plugins once they were started.
	owner, maker *backend.Peer
	// req is the request. For a respawn from a record it holds only what the record lacks.
	req Request
	// token is the secret with which an agent proves its identity, and warning the warning about it.
	token, warning string
	// status is how the worker was right after its start.
	status swarm.StatusResult
	// resumed is what is run in place of the record's command; nil: that. session is the
	// conversation that it continues, if it does.
	resumed []string
	session string

	// The rest is for a respawn. place is the id of the worker whose place this
	// one takes, replaces its record; nil if that is gone. former is the workspace
	// to remove before.
	place    string
	replaces *registry.Record
	former   *swarm.WorkspaceRef
}

func (p *plan) command() []string {
	if p.resumed != nil {
		return p.resumed
	}
	return p.rec.Command
}

func (p *plan) makesWorkspace() bool { return p.rec.Ask != nil && p.rec.Workspace == nil }

// plan checks a request as far as it can be without a plugin.
func (s *Spawner) plan(req Request) (*plan, error) {
	req = s.Defaults.apply(req)
	if err := req.check(); err != nil {
		return nil, err
	}
	if err := s.Display.CheckProfile(req.Profile); err != nil {
		return nil, err
	}
	p := &plan{req: req, resumed: req.Run}
	var err error
	if p.backend, err = s.Catalog.Find(req.Backend); err != nil {
		return nil, err
	}
	now := time.Now()
	p.rec = registry.Record{
		State: registry.Starting,
		Step:  registry.StepBackend,
		Spec: registry.Spec{
			ID: statedir.NewID(now), Name: req.Name, Backend: req.Backend, Plugin: backend.RecordedPlugin(p.backend),
			Command: req.Command, Dir: filepath.Clean(req.Dir), Env: req.Env, Tags: Unique(req.Tags), Options: req.Options,
			Kill: s.killPolicy(req.Kill), OutputLimit: cmp.Or(req.OutputLimit, s.OutputLimit),
			Retain: cmp.Or(req.Retain, registry.RetainUntilClean),
			Stdin:  req.Stdin, Restart: req.Restart.OrDefault(), Limits: req.Limits, Sandbox: req.Sandbox.Clone(), Owner: req.Owner, Ralph: req.Ralph, Shown: req.Shown, Project: req.Project,
			Profile: req.Profile, Resurrect: req.Resurrect, Own: req.Own,
			Team: req.Team, Shell: req.Shell, SpawnedBy: s.Callers.Spawners(), Created: now,
		},
	}
	if a := req.Agent; a != nil {
		p.rec.Team, p.rec.Agent, p.token = a.Team, a.ID, caller.NewToken()
	}
	if w := req.Workspace; w != nil {
		plugin := cmp.Or(w.Plugin, s.DefaultWorkspace)
		if p.workspace, err = s.Catalog.Find(plugin); err != nil {
			return nil, err
		}
		p.rec.Step = registry.StepWorkspace
		p.rec.Ask = &registry.WorkspaceAsk{
			Plugin: plugin, Config: backend.RecordedPlugin(p.workspace), Base: p.rec.Dir, Branch: w.Branch, Parent: w.Parent, Within: req.DirGiven,
		}
		if len(w.Options) > 0 { // else it would differ from what a record holds of it
			p.rec.Ask.Options = w.Options
		}
	}
	return p, nil
}

func (s *Spawner) killPolicy(asked *swarm.KillOptions) swarm.KillOptions {
	policy := s.KillPolicy
	if asked != nil {
		policy = *asked
	}
	// How to call it, not how the worker wants to be ended.
	policy.Detach = false
	return policy
}

// checkTexts refuses what plugins get as text if it is not UTF-8: it would be changed on the way.
// Commands, environments and paths are bytes, and may be anything.
func (req Request) checkTexts() error {
	refuse := func(what, text string) error {
		if utf8.ValidString(text) {
			return nil
		}
		return worker.Invalid("%s %q is not UTF-8: plugins can't be given it unchanged", what, text)
	}
	for _, tag := range req.Tags {
		if err := refuse("tag", tag); err != nil {
			return err
		}
	}
	for _, options := range req.allOptions() {
		for key, value := range options {
			if err := errors.Join(refuse("the name of an option", key), refuse("option "+strconv.Quote(key)+" with", value)); err != nil {
				return err
			}
		}
	}
	if b := req.Sandbox; b != nil {
		for _, path := range append([]string{b.Home}, b.Write...) {
			if err := refuse("the path of the sandbox", path); err != nil {
				return err
			}
		}
	}
	return nil
}

// allOptions returns the options of the plugins.
func (req Request) allOptions() []map[string]string {
	if req.Workspace == nil {
		return []map[string]string{req.Options}
	}
	return []map[string]string{req.Options, req.Workspace.Options}
}

// check refuses a request that no backend can carry out.
func (req Request) check() error {
	if err := CheckName(req.Name); err != nil {
		return err
	}
	if len(req.Command) == 0 || req.Command[0] == "" {
		return worker.Invalid("no command given")
	}
	if !filepath.IsAbs(req.Dir) {
		return worker.Invalid("the working directory '%s' is not an absolute path", req.Dir)
	}
	for _, kv := range req.Env {
		if key, _, ok := strings.Cut(kv, "="); !ok || key == "" {
			return worker.Invalid("malformed environment entry '%s': must be KEY=VALUE", kv)
		}
	}
	for _, tag := range req.Tags {
		if tag == "" || strings.ContainsFunc(tag, unicode.IsControl) {
			return worker.Invalid("invalid tag %q: must not be empty or hold control characters", tag)
		}
	}
	if err := req.checkTexts(); err != nil {
		return err
	}
	if k := req.Kill; k != nil && k.Signal != "" {
		if _, err := swarm.ParseSignal(k.Signal); err != nil {
			return err
		}
	}
	if r := req.Retain; r != "" && r != registry.RetainUntilClean && r != registry.RetainNone {
		if d, err := time.ParseDuration(r); err != nil || d < 0 {
			return worker.Invalid("invalid retention '%s': must be %s, %s or a duration", r, registry.RetainUntilClean, registry.RetainNone)
		}
	}
	if err := checkRestart(req.Restart); err != nil {
		return err
	}
	if req.Run != nil && req.Restart.When != swarm.RestartNo {
		return worker.Invalid("a command that is run this once can't be combined with a restart policy, which would repeat it")
	}
	if err := req.Limits.Check(); err != nil {
		return err
	}
	if err := req.Sandbox.Check(); err != nil {
		return err
	}
	if req.Sandbox != nil && req.Ralph {
		return errLoopInSandbox()
	}
	if o := req.Owner; o != nil && o.PID <= 0 {
		return worker.Invalid("owner %d is not a process", o.PID)
	}
	if a := req.Agent; a != nil && (a.ID == "" || a.Team == "" || req.Team != "" && req.Team != a.Team) {
		return worker.Invalid("no agent '%s' in team '%s'", a.ID, a.Team)
	}
	texts := slices.Concat(req.Command, req.Env, []string{req.Dir})
	for _, options := range req.allOptions() {
		texts = slices.AppendSeq(texts, maps.Values(options))
	}
	if slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsRune(s, 0) }) {
		return worker.Invalid("a NUL byte in the command, the directory, the environment or an option")
	}
	return nil
}

// CheckName returns an error if a worker can't have that name.
func CheckName(name string) error {
	if swarm.ValidName(name) {
		return nil
	}
	return worker.Invalid("invalid worker name '%s': use letters, digits, '.', '_' and '-', beginning with a letter or digit, at most %d",
		name, swarm.MaxName)
}

func checkRestart(r swarm.Restart) error {
	switch {
	case !slices.Contains([]swarm.RestartWhen{swarm.RestartNo, swarm.RestartOnFailure, swarm.RestartAlways}, r.When):
		return worker.Invalid("invalid restart policy '%s': must be %s or %s", r.When, swarm.RestartOnFailure, swarm.RestartAlways)
	case r.MinDelay < 0 || r.MaxDelay < 0 || r.Window < 0 || r.Budget < 0:
		return worker.Invalid("a restart policy has no negative delays or budgets")
	case r.MaxDelay > 0 && r.MinDelay > r.MaxDelay:
		return worker.Invalid("the first restart delay, %s, is longer than the longest, %s", r.MinDelay, r.MaxDelay)
	}
	return nil
}

// Unique returns the tags without repetitions.
func Unique(tags []string) []string {
	var out []string
	for _, t := range tags {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// startPlugins starts the plugins of a plan at the same time, lets the backend
// finish what a crash interrupted, and checks what needed them.
func (s *Spawner) startPlugins(ctx context.Context, reg *registry.Registry, p *plan) error {
	var wg sync.WaitGroup
	var ownerErr, makerErr error
	wg.Go(func() { ownerErr = s.Plugins.AskBackend(ctx, p.backend, false, into(&p.owner)) })
	if p.makesWorkspace() {
		wg.Go(func() { makerErr = s.Plugins.AskWorkspace(ctx, p.workspace, false, into(&p.maker)) })
	}
	wg.Wait()
	if err := errors.Join(ownerErr, makerErr); err != nil {
		return err
	}
	if err := p.supported(); err != nil {
		return err
	}
	p.rec.NoScreen = !p.owner.Has(swarm.CapScreen)
	if err := p.sendAway(s.DefaultWorkspace); err != nil {
		return err
	}
	if err := s.lookAway(ctx, p); err != nil {
		return err
	}
	s.Settler.Recover(ctx, reg, p.owner, p.rec.Backend)
	taken, _, err := reg.Read(ctx, registry.Query{Names: []string{p.rec.Name}})
	if err != nil {
		return err
	}
	if len(taken) > 0 && taken[0].ID != p.place && !s.History.Vacated(ctx, reg, taken[0]) {
		return worker.Exists(p.rec.Name)
	}
	if p.owner.Local || p.rec.Ask != nil && !p.rec.Ask.Away {
		return checkDir(p.rec.Dir)
	}
	return nil
}

// into keeps the plugin that was started.
func into(peer **backend.Peer) func(*backend.Peer) error {
	return func(started *backend.Peer) error {
		*peer = started
		return nil
	}
}

// supported refuses a request that the backend can't carry out.
func (p *plan) supported() error {
	switch {
	case p.rec.Stdin && !p.owner.Has(swarm.CapStdin):
		return worker.Unsupported(p.rec.Backend, swarm.CapStdin, "")
	case p.rec.Restart.When != swarm.RestartNo && !p.owner.Has(swarm.CapRestart):
		return worker.Unsupported(p.rec.Backend, swarm.CapRestart, "")
	case p.req.Transcript && !p.owner.Has(swarm.CapTranscript):
		return worker.Unsupported(p.rec.Backend, swarm.CapTranscript, "")
	case p.rec.Sandbox != nil && !p.owner.Has(swarm.CapSandbox):
		return worker.Unsupported(p.rec.Backend, swarm.CapSandbox, "")
	}
	for _, c := range p.rec.Limits.Needs() {
		if !p.owner.Has(c) {
			return worker.Unsupported(p.rec.Backend, c, "")
		}
	}
	return nil
}

// startAheadFor starts the plugins of a spawn before the registry is opened.
func (s *Spawner) startAheadFor(p *plan) {
	if p.makesWorkspace() {
		s.Plugins.Start(p.backend, p.workspace)
	} else {
		s.Plugins.Start(p.backend)
	}
}
