package spawn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/sandbox"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/program"
	"github.com/swarmhost/swarm/shared/swarm"
)

// foreseeLimit is how long the plugins may take to find out whether they can work.
const foreseeLimit = 30 * time.Second

// foresee returns the error with which the start of a worker would fail, as far as that can
// be found out while the worker whose place it takes still runs: whether the backend and its
// engine answer, and for a worker on this machine its directory, its program, its sandbox and
// its limits.
func (s *Spawner) foresee(ctx context.Context, p *plan) error {
	ctx, cancel := context.WithTimeout(ctx, foreseeLimit)
	defer cancel()
	if p.owner.Report != nil && p.owner.Has(swarm.CapCheck) {
		if _, err := p.owner.Report(ctx); err != nil {
			return fmt.Errorf("backend '%s': %w", p.rec.Backend, err)
		}
	}
	if p.makesWorkspace() && p.maker != nil && p.maker != p.owner && p.maker.Report != nil && p.maker.Has(swarm.CapCheck) {
		if _, err := p.maker.Report(ctx); err != nil {
			return fmt.Errorf("plugin '%s': %w", p.rec.Ask.Plugin, err)
		}
	}
	if err := p.exchanged(); err != nil {
		return err
	}
	// A backend whose workers have shims keeps their raw output.
	if !p.owner.Local || !p.owner.Has(swarm.CapTranscript) {
		return nil
	}
	spec, err := s.spec(p)
	if err != nil {
		return err
	}
	if !spec.Limits.BestEffort {
		machine := cgroup.Look()
		for _, c := range cgroup.NeededBy(spec.Limits) {
			if machine.Version(c) == 0 {
				return worker.Invalid("the limit of %s can't be enforced: %s", cgroup.Word(c), machine.Missing(c))
			}
		}
	}
	l := shim.LaunchOf(spec)
	if spec.Sandbox == nil {
		if err := findProgram(l, !p.makesWorkspace()); err != nil {
			return worker.Invalid("%v", err)
		}
		return nil
	}
	if p.makesWorkspace() {
		return nil // what is in the sandbox is not there yet
	}
	box, err := sandbox.Look(spec)
	if err != nil {
		return err
	}
	if err := findInside(l, box); err != nil {
		return worker.Invalid("%v (in the sandbox)", err)
	}
	return nil
}

// engineAnswers returns an error if the engine that shows the screen of the old worker does not
// answer, such as a tmux server that hangs: it would not start the new worker either. An engine
// that the new worker does not use is not asked.
func (r *respawning) engineAnswers(ctx context.Context) error {
	owner := r.plan.owner
	if r.old.Backend != r.plan.rec.Backend || !maps.Equal(r.old.Options, r.plan.rec.Options) || !owner.Has(swarm.CapScreen) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, foreseeLimit)
	defer cancel()
	_, err := owner.Backend.Screen(ctx, r.old.Handle, swarm.ScreenOptions{})
	if errors.Is(err, swarm.ErrUnavailable) {
		return fmt.Errorf("backend '%s': %s", r.old.Backend, errtext.Without(err, swarm.ErrUnavailable))
	}
	return nil // all else is for the start to find out
}

// findInside is findProgram for a launch in a sandbox.
func findInside(l rundir.Launch, box sandbox.Plan) error {
	if len(box.Replace) > 0 {
		return nil // the program may be in the directory that takes the place of the home
	}
	command := l.Command[0]
	if path := environ.Get(l.Env, "PATH"); !strings.Contains(command, "/") && path != "" {
		var seen []string
		for _, dir := range filepath.SplitList(path) {
			file := filepath.Join(dir, command)
			if !filepath.IsAbs(file) {
				file = filepath.Join(l.Dir, file)
			}
			if box.Sees(file) && seesTarget(box, file) {
				seen = append(seen, dir)
			}
		}
		if seen == nil {
			return fmt.Errorf("command not found: %s", command)
		}
		l.Env = append(environ.Unset(l.Env, "PATH"), "PATH="+strings.Join(seen, ":"))
		return findProgram(l, true)
	}
	file := command
	if !filepath.IsAbs(file) {
		file = filepath.Join(l.Dir, file)
	}
	if strings.Contains(command, "/") && (!box.Sees(file) || !seesTarget(box, file)) {
		return fmt.Errorf("command not found: %s", command)
	}
	return findProgram(l, true)
}

// seesTarget reports whether the file that a link leads to is perhaps seen in a sandbox.
func seesTarget(box sandbox.Plan, file string) bool {
	target, err := filepath.EvalSymlinks(file)
	return err != nil || box.Sees(target)
}

// findProgram returns the error with which a launch would fail for want of its program. there
// says that the directory of the launch exists by now; without it, what is relative to the
// directory may come with it.
func findProgram(l rundir.Launch, there bool) error {
	command := l.Command[0]
	if !there && !filepath.IsAbs(command) {
		if strings.Contains(command, "/") {
			return nil
		}
		path := environ.Get(l.Env, "PATH")
		for _, dir := range filepath.SplitList(path) {
			if !filepath.IsAbs(dir) {
				return nil
			}
		}
	}
	dir := l.Dir
	if there {
		if err := program.CheckDir(dir); err != nil {
			return err
		}
	} else {
		dir = "/"
	}
	file, err := program.Find(command, dir, l.Env)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if !there {
		dir = "" // where the program will start is not known yet
	}
	return program.Judge(file, command, dir)
}
