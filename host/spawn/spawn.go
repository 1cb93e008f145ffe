package spawn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

// Request says what worker to start.
type Request struct {
	// Name is the worker's name, see [swarm.ValidName].
	Name string
	// Backend is the name of the plugin that is to own it.
	Backend string
	// Command is the program and its arguments.
	Command []string
	// Run is what is run in its place this once, such as Command with the first prompt of an
	// agent; nil: Command. The record has Command, which a respawn runs. It can't be combined
	// with Restart: the backend would give the prompt again.
	Run []string
	// Dir is the working directory, absolute. With a Workspace it is where the
	// workspace is made from, and the worker runs in the workspace: with DirGiven in
	// the directory there that corresponds to Dir.
	Dir string
	// DirIsReal says that Dir has no symbolic link in it, and that none that is put there later
	// may be followed.
	DirIsReal bool
	// DirGiven says that the caller named Dir. A backend that is not local is not sent
	// another one: the directory of the caller means nothing where it runs.
	DirGiven bool
	// Env are KEY=VALUE entries on top of the environment.
	Env []string
	// Tags are the user's labels.
	Tags []string
	// Options are settings that only the backend understands.
	Options map[string]string
	// Workspace asks for a directory made for this worker; nil: none.
	Workspace *WorkspaceRequest
	// Kill is its kill policy; nil: that of [Spawner].
	Kill *swarm.KillOptions
	// Retain is its retention policy: "until-clean", "none", or a duration that
	// the record stays after the end; empty: "until-clean".
	Retain string
	// Project is the path of the config file that declares it; empty: none.
	Project string
	// Stdin keeps its standard input open, for input.
	Stdin bool
	// Restart is its restart policy; the zero value: none.
	Restart swarm.Restart
	// Limits are what it may use; where they are zero, the [Defaults] count.
	Limits swarm.Limits
	// Sandbox is what it is kept from; nil: what the [Defaults] say.
	Sandbox *swarm.Sandbox
	// Own are the settings that are chosen for this worker even if they are zero values: for
	// them the [Defaults] do not count.
	Own registry.Own
	// Owner is the process at whose end it is killed; may be nil.
	Owner *swarm.Owner
	// Profile is the name of its profile, see [profile.Set], or "none"; empty: that
	// of its command.
	Profile string
	// Ralph says that its main process is a ralph loop.
	Ralph bool
	// Shown is the command that people are shown in place of Command; empty: Command.
	Shown []string
	// Team is the team that the worker works for, which must be there; empty: none,
	// or that of Agent.
	Team string
	// Agent is the agent that the worker is to be; nil: none. The right of the
	// caller to spawn it was checked.
	Agent *team.Entry
	// Shell says that it is a background shell.
	Shell *registry.Shell
	// Transcript has its output kept raw too, see [swarm.Spec.Transcript].
	Transcript bool
	// OutputLimit is how many bytes of output to keep; 0: that of the host's
	// [Spawner].
	OutputLimit int64
	// Resurrect says that it is to be started again after the machine was, see
	// [Spawner.Resurrect].
	Resurrect bool
	// Warn gets warnings for the user; may be nil.
	Warn func(worker.Warning)
	// Placed gets the directory that the worker will run in, before it is
	// started; may be nil.
	Placed func(dir string)
	// Progress gets what the backend waits for, once the start of the worker has taken a
	// second, and the empty text when that ends; may be nil. It is never called twice
	// at the same time.
	Progress func(text string)
}

// WorkspaceRequest says what workspace to make.
type WorkspaceRequest struct {
	// Plugin is the name of the workspace plugin; empty: the default one.
	Plugin string
	// Branch and Parent are as in [swarm.WorkspaceSpec]. A relative Parent is
	// relative to the parent of the base.
	Branch, Parent string
	// Options are settings that only Plugin understands.
	Options map[string]string
}

const (
	// spawnLimit is how long a plugin may take to start a worker or to make a workspace, unless the
	// config says otherwise. An image may have to be fetched, and a large repository be checked out.
	spawnLimit = 10 * time.Minute
	// undoLimit is how long the undoing of a spawn may take.
	undoLimit = 30 * time.Second
)

// limitOf returns how long a plugin may take to start a worker or to make a workspace.
func (s *Spawner) limitOf(plugin string) time.Duration {
	conf, _ := s.Catalog.Configured(plugin)
	return cmp.Or(conf.SpawnTimeout, spawnLimit)
}

// ranOut reports whether the deadline of ctx has ended a call. The plugin has the same deadline, and may
// be first to notice that it has ended.
func ranOut(ctx context.Context, err error) bool {
	const sooner = time.Second
	deadline, ok := ctx.Deadline()
	return ok && errors.Is(err, context.DeadlineExceeded) && time.Until(deadline) < sooner
}

// tookTooLong says which limit has ended a call, if one has.
func tookTooLong(ctx context.Context, err error, plugin, what string, limit time.Duration) error {
	if !ranOut(ctx, err) {
		return err
	}
	return fmt.Errorf("%w: plugin '%s' did not %s within %s; spawn_timeout in [plugins.%s] of the config is how long it may take",
		swarm.ErrUnavailable, plugin, what, limit, plugin)
}

// Spawn starts a worker and returns it running. On any error nothing is left of
// what was made, and the error says the first cause. A taken name is
// [worker.ErrExists]; a request that can't be carried out is [swarm.ErrInvalidSpec].
func (s *Spawner) Spawn(ctx context.Context, req Request) (_ worker.Worker, err error) {
	p, err := s.plan(req)
	if err != nil {
		return worker.Worker{}, err
	}
	s.startAheadFor(p)
	reg, err := s.Store.ToWrite(ctx)
	if err != nil {
		return worker.Worker{}, err
	}
	if req.Shell != nil && req.Owner != nil {
		shell := *req.Shell
		shell.Acts = s.Callers.ActsFor(ctx, *req.Owner)
		p.rec.Shell = &shell
	}
	if err := s.startPlugins(ctx, reg, p); err != nil {
		return worker.Worker{}, err
	}
	// A process that finds the record while its lock is free knows that this process
	// is gone.
	unlock, err := s.Dir.Lock(ctx, p.rec.ID)
	if err != nil {
		return worker.Worker{}, err
	}
	defer unlock()

	var background sync.WaitGroup
	defer background.Wait()
	background.Go(func() {
		s.Settler.Reconcile(ctx, reg, func(id string) bool { return id == p.rec.ID })
	})
	var done undo
	defer func() {
		err = done.onError(ctx, s.Logger, err)
		if done.left != "" {
			s.noteUndo(ctx, reg, p)
		}
		if done.steps != nil && err != nil && isInterrupted(ctx) && req.Warn != nil {
			req.Warn(done.interruption(&p.rec))
		}
	}()
	warned := ctx
	if req.Warn != nil {
		warned = swarm.WithWarnings(ctx, func(text string) { req.Warn(worker.Warned(p.rec.Name, text)) })
	}
	if err := s.make(warned, reg, p, &done); err != nil {
		return worker.Worker{}, err
	}
	if p.warning != "" && req.Warn != nil {
		req.Warn(worker.Warning{Text: p.warning})
	}
	w := worker.Of(p.rec)
	w.Apply(p.status)
	// The process that was started, even if it has ended by now.
	w.PID = p.status.Status.PID
	return w, nil
}

// noteUndo notes in the record of a spawn that its caller knows that it failed: a worker that is found
// later is ended, not adopted.
func (s *Spawner) noteUndo(ctx context.Context, reg *registry.Registry, p *plan) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), interruptLimit)
	defer cancel()
	warn.If(s.Logger, reg.Edit(ctx, p.rec.ID, func(r *registry.Record) {
		if r.State == registry.Starting && r.Step == registry.StepBackend {
			r.Step, r.Handle = registry.StepUndo, p.rec.Handle
		}
	}), "an undo can't be recorded", "worker", p.rec.Name)
}

// make carries out a plan, and adds to done how to undo each of its steps.
func (s *Spawner) make(ctx context.Context, reg *registry.Registry, p *plan, done *undo) error {
	rec := &p.rec
	if !p.makesWorkspace() {
		p.hold()
	}
	err := reg.Change(ctx, p.enter)
	if errors.Is(err, registry.ErrExists) {
		return worker.Exists(rec.Name)
	}
	if err != nil {
		return err
	}
	done.add("record", func(ctx context.Context) error {
		return reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
			return settle.PutBack(ctx, tx, rec, p.place, p.replaces)
		})
	})
	// The disk has the record before anything is started: a crash of the machine leaves no
	// worker without one. The steps until then continue meanwhile.
	var syncing sync.WaitGroup
	var syncErr error
	syncing.Go(func() { syncErr = reg.Sync() })
	defer syncing.Wait()

	if err := s.Dir.MakeRunDir(rec.ID); err != nil {
		return err
	}
	done.add("run directory", func(context.Context) error { return removeRunDir(s.Dir.RunDir(rec.ID)) })

	if p.makesWorkspace() {
		if err := s.makeWorkspace(ctx, p, done); err != nil {
			return err
		}
		p.hold()
		err := reg.Edit(ctx, rec.ID, func(r *registry.Record) {
			r.Workspace, r.Dir, r.Real, r.Step = rec.Workspace, rec.Dir, rec.Real, registry.StepBackend
		})
		if err != nil {
			return err
		}
	}
	if err := s.Dir.WriteWorkerFile(rec); err != nil {
		return err
	}
	if p.req.Placed != nil {
		p.req.Placed(rec.Dir)
	}
	if syncing.Wait(); syncErr != nil {
		return syncErr
	}
	if err := s.start(ctx, p, done); err != nil {
		return err
	}
	err = reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		err := tx.Update(ctx, rec.ID, func(r *registry.Record) error {
			rec.State, rec.Step, rec.Replaces = registry.Running, "", nil
			r.State, r.Step, r.Handle, r.Replaces = rec.State, rec.Step, rec.Handle, nil
			if p.status.Err == nil {
				r.PID, r.Started, r.Place = p.status.Status.PID, p.status.Status.Started, p.status.Status.Where
				rec.Place = r.Place
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := errors.Join(settle.Succeed(ctx, tx, rec, p.replaces), team.WorkerRuns(ctx, tx, rec)); err != nil {
			return err
		}
		_, err = tx.Append(ctx, history.SpawnedEvent(rec, p.status.Status))
		return err
	})
	if err != nil {
		return err
	}
	// The caller is notified of the worker now, so it must be known after a crash of the machine.
	// A disk that fails is no reason to end a worker that runs.
	warn.If(s.Logger, reg.Sync(), "a crash of the machine may lose the record", "worker", rec.Name)
	// Completion, which starts no plugin, knows the options of backends that were used.
	s.Plugins.Remember(p.backend, p.owner)
	return nil
}

// removeRunDir removes the run directory of a spawn that failed. A plugin that was given up may just
// be marking in it that its Spawn is undone.
func removeRunDir(dir string) error {
	const marks = 8 // more than a plugin makes
	var err error
	for range marks {
		if err = os.RemoveAll(dir); !errors.Is(err, syscall.ENOTEMPTY) {
			break
		}
	}
	return err
}

func (s *Spawner) makeWorkspace(ctx context.Context, p *plan, done *undo) error {
	limit := s.limitOf(p.maker.Name)
	ctx, cancel := p.maker.Within(ctx, limit)
	defer cancel()
	rec := &p.rec
	spec := backend.WorkspaceSpec(rec)
	stop := s.Plugins.AnnounceWait("waiting for plugin '%s' to make the workspace of '%s'; another process may be using %s", p.maker.Name, rec.Name, spec.Base)
	ref, err := p.maker.Workspace.Create(ctx, spec)
	stop()
	if err != nil {
		if unfinished(ctx, err) {
			done.addAsking("workspace", func(ctx context.Context) error { return s.removeUnrecorded(ctx, p, spec) })
		}
		return tookTooLong(ctx, err, p.maker.Name, "make the workspace", limit)
	}
	if !rec.Ask.Away {
		ref.Host = ""
	}
	rec.Workspace, rec.Dir = &ref, backend.DirIn(rec.Ask, &ref)
	done.add("workspace", func(ctx context.Context) error { return s.Plugins.UndoWorkspace(ctx, p.workspace, ref) })
	switch {
	case !rec.Ask.Away:
		return checkWithin(ref.Path, rec.Dir)
	case ref.Host == "":
		return fmt.Errorf("backend '%s' does not say on which machine the workspace is", rec.Backend)
	}
	return nil
}

// start has the backend start the worker and looks at it once.
func (s *Spawner) start(ctx context.Context, p *plan, done *undo) error {
	limit := s.limitOf(p.rec.Backend)
	ctx, cancel := p.owner.Within(ctx, limit)
	defer cancel()
	rec := &p.rec
	spec, err := s.spec(p)
	if err != nil {
		return err
	}
	endProgress, stop := s.reportProgress(ctx, p), func() {}
	if !p.owner.Has(swarm.CapProgress) {
		stop = s.Plugins.AnnounceWait("waiting for plugin '%s' to start '%s'", rec.Backend, rec.Name)
	}
	rec.Handle, err = p.owner.Backend.Spawn(ctx, spec)
	endProgress()
	stop()
	if err != nil {
		if p.owner.Local {
			done.addAsking("worker", func(ctx context.Context) error { return s.endLeft(ctx, rec.ID) })
		}
		if unfinished(ctx, err) {
			done.addAsking("worker", func(ctx context.Context) error { return s.endUnrecorded(ctx, p) })
		}
		return tookTooLong(ctx, err, rec.Backend, "start the worker", limit)
	}
	done.addAsking("worker", func(ctx context.Context) error { return s.endRecorded(ctx, p) })
	results, err := p.owner.Backend.StatusBatch(ctx, []swarm.Handle{rec.Handle})
	if err == nil && len(results) == 1 {
		p.status = results[0]
	} else {
		p.status = swarm.StatusResult{Err: fmt.Errorf("the status of the new worker: %w", err)}
	}
	return nil
}

// spec returns what the backend of a plan is to start.
func (s *Spawner) spec(p *plan) (swarm.Spec, error) {
	if err := p.exchanged(); err != nil {
		return swarm.Spec{}, err
	}
	p.hold()
	rec := &p.rec
	local, err := s.Plugins.Local(p.owner, rec.ID)
	if err != nil {
		return swarm.Spec{}, err
	}
	if local != nil {
		local.HostEnv = s.workerHostEnv(rec)
		if rec.Workspace != nil {
			local.Workspace = p.real(rec.Workspace.Path)
		}
	}
	return swarm.Spec{
		ID: rec.ID, Name: rec.Name, Command: p.command(), Dir: p.real(rec.Dir),
		Env: s.workerEnv(rec, p.owner.Local, p.token), Tags: rec.Tags, Options: rec.Options,
		Kill: rec.Kill, OutputLimit: rec.OutputLimit, Transcript: p.req.Transcript, Stdin: rec.Stdin, Restart: rec.Restart, Limits: rec.Limits,
		Sandbox: p.sandbox(), Owner: ownerFor(p.owner, rec.Owner), Local: local,
	}, nil
}

// progressDelay is how long a spawn takes before it is reported what it waits for.
const progressDelay = time.Second

// reportProgress reports what the backend waits for until the returned function is called,
// which returns after the last report.
func (s *Spawner) reportProgress(ctx context.Context, p *plan) (stop func()) {
	if p.req.Progress == nil || !p.owner.Has(swarm.CapProgress) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var reporting sync.WaitGroup
	reporting.Go(func() {
		timer := time.NewTimer(progressDelay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		defer p.req.Progress("")
		err := p.owner.Backend.Progress(ctx, p.rec.ID, func(text string) error {
			p.req.Progress(text)
			return ctx.Err()
		})
		if ctx.Err() == nil {
			warn.If(s.Logger, err, "can't show what a spawn waits for", "worker", p.rec.Name, "backend", p.rec.Backend)
		}
	})
	return func() {
		cancel()
		reporting.Wait()
	}
}

// unfinished reports whether a call failed because its plugin ended in it or was
// given up. Only then it may have left something behind.
func unfinished(ctx context.Context, err error) bool {
	return errors.Is(err, client.ErrPluginGone) || ctx.Err() != nil || ranOut(ctx, err)
}
