package workspacetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/swarm"
)

// plain is a right workspace plugin but for what its hooks change: its workspaces are empty
// directories without a branch, and every file in one is work.
type plain struct{ hooks hooks }

// hooks change what a plugin does; one that is not set changes nothing.
type hooks struct {
	create func(spec *swarm.WorkspaceSpec)
	made   func(ref *swarm.WorkspaceRef, err *error)
	check  func(c *swarm.WorkspaceCheck)
	state  func(ref swarm.WorkspaceRef, s *swarm.WorkspaceState)
	remove func(ref *swarm.WorkspaceRef, o *swarm.RemoveOptions)
	result func(*swarm.RemoveResult)
	find   func(ref *swarm.WorkspaceRef, err *error)
	// anyHandle ignores handles.
	anyHandle bool
}

func (p plain) path(spec swarm.WorkspaceSpec) string {
	parent := spec.Parent
	if parent == "" {
		parent = spec.Base + "-plain"
	}
	return filepath.Join(parent, spec.Name)
}

func (p plain) CheckCreate(_ context.Context, c swarm.WorkspaceCheck) error {
	if p.hooks.check != nil {
		p.hooks.check(&c)
	}
	return p.refuse(c)
}

func (p plain) refuse(c swarm.WorkspaceCheck) error {
	for key := range c.Spec.Options {
		return fmt.Errorf("%w: no option '%s'", swarm.ErrInvalidSpec, key)
	}
	path := p.path(c.Spec)
	taken := exists(path) && (c.Removed == nil || c.Removed.Path != path)
	if c.Spec.Branch != "" || !isDir(c.Spec.Base) || taken {
		return fmt.Errorf("%w: %+v", swarm.ErrInvalidSpec, c.Spec)
	}
	return nil
}

func (p plain) Create(ctx context.Context, spec swarm.WorkspaceSpec) (ref swarm.WorkspaceRef, err error) {
	if p.hooks.made != nil {
		defer func() { p.hooks.made(&ref, &err) }()
	}
	if p.hooks.create != nil {
		p.hooks.create(&spec)
	}
	if err := ctx.Err(); err != nil {
		return swarm.WorkspaceRef{}, err
	}
	if err := p.refuse(swarm.WorkspaceCheck{Spec: spec}); err != nil {
		return swarm.WorkspaceRef{}, err
	}
	path := p.path(spec)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return swarm.WorkspaceRef{}, err
	}
	return swarm.WorkspaceRef{ID: spec.ID, Name: spec.Name, Path: path, Base: spec.Base}, os.WriteFile(mark(path, spec.ID), nil, 0o600)
}

// mark is the file that shows that a workspace was made for a worker.
func mark(path, id string) string { return filepath.Join(filepath.Dir(path), "."+id) }

func (p plain) FindWorkspace(_ context.Context, spec swarm.WorkspaceSpec) (ref swarm.WorkspaceRef, err error) {
	if p.hooks.find != nil {
		defer func() { p.hooks.find(&ref, &err) }()
	}
	path := p.path(spec)
	if !exists(mark(path, spec.ID)) {
		return swarm.WorkspaceRef{}, fmt.Errorf("%s: %w", path, swarm.ErrNotFound)
	}
	return swarm.WorkspaceRef{ID: spec.ID, Name: spec.Name, Path: path, Base: spec.Base}, nil
}

func (p plain) Inspect(_ context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	if !ref.Handle.IsZero() && !p.hooks.anyHandle {
		return swarm.WorkspaceState{}, swarm.ErrInvalidHandle
	}
	s := p.look(ref, o)
	if p.hooks.state != nil {
		p.hooks.state(ref, &s)
	}
	return s, nil
}

func (p plain) look(ref swarm.WorkspaceRef, o swarm.RemoveOptions) swarm.WorkspaceState {
	files, err := os.ReadDir(ref.Path)
	switch {
	case err != nil:
		return swarm.WorkspaceState{Missing: true}
	case !exists(mark(ref.Path, ref.ID)):
		return swarm.WorkspaceState{Kept: &swarm.Kept{Reason: "it is another directory"}}
	case len(files) > 0 && !o.Force:
		return swarm.WorkspaceState{Kept: &swarm.Kept{Reason: "it has files", Forceable: true}}
	}
	return swarm.WorkspaceState{}
}

func (p plain) Remove(_ context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (res swarm.RemoveResult, err error) {
	if !ref.Handle.IsZero() && !p.hooks.anyHandle {
		return res, swarm.ErrInvalidHandle
	}
	if p.hooks.remove != nil {
		p.hooks.remove(&ref, &o)
	}
	if p.hooks.result != nil {
		defer func() { p.hooks.result(&res) }()
	}
	s := p.look(ref, o)
	if s.Missing || s.Kept != nil {
		return swarm.RemoveResult{Kept: s.Kept}, nil
	}
	if os.Remove(ref.Path) == nil {
		return res, os.Remove(mark(ref.Path, ref.ID))
	}
	saved := ref.Path + ".saved"
	return swarm.RemoveResult{Rescues: []swarm.Rescue{{Ref: saved, Command: "mv " + saved + " ."}}}, os.Rename(ref.Path, saved)
}

// run returns the outcome of every case with a plugin.
func run(t *testing.T, h hooks) map[string]harness.Result {
	t.Helper()
	w := Workspace{New: func(T) swarm.Workspace { return plain{h} }}
	base := func(k T) string { return filepath.Join(k.TempDir(), "base") }
	results := map[string]harness.Result{}
	for _, i := range items(func(k T) string { dir := base(k); _ = os.Mkdir(dir, 0o700); return dir }, w.direct, w.direct(t)) {
		results[i.Name] = i.Result(t.Context())
	}
	return results
}

// TestRightPlugin: the kit demands neither git, nor a branch, nor anything in a base.
func TestRightPlugin(t *testing.T) {
	t.Parallel()
	kept := 0
	for name, r := range run(t, hooks{}) {
		switch r.Outcome {
		case harness.OK:
			kept++
		case harness.Failed:
			t.Errorf("%s: %q", name, r.Problems)
		case harness.Skipped, harness.NotRun:
		}
	}
	if kept < 15 {
		t.Errorf("only %d rules were checked", kept)
	}
}

// TestBrokenPlugins: each rule is broken by a plugin that is right but for that, and the case names it.
func TestBrokenPlugins(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]struct {
		rule  string
		hooks hooks
	}{
		"a path that is not absolute": {"create", hooks{made: func(ref *swarm.WorkspaceRef, _ *error) { ref.Path = filepath.Base(ref.Path) }}},
		"a base that does not exist":  {"create-of-nothing", hooks{create: func(s *swarm.WorkspaceSpec) { _ = os.Mkdir(s.Base, 0o700) }}},
		"any option is accepted":      {"create-with-an-unknown-option", hooks{create: func(s *swarm.WorkspaceSpec) { s.Options = nil }}},
		"the option is not named": {"create-with-an-unknown-option", hooks{made: func(_ *swarm.WorkspaceRef, err *error) {
			if *err != nil && strings.Contains((*err).Error(), "option") {
				*err = swarm.ErrInvalidSpec
			}
		}}},
		"any option is foreseen":      {"check-create-refuses", hooks{check: func(c *swarm.WorkspaceCheck) { c.Spec.Options = nil }}},
		"the branch is ignored":       {"create-with-a-branch", hooks{create: func(s *swarm.WorkspaceSpec) { s.Branch = "" }}},
		"the removal is not foreseen": {"check-create-refuses", hooks{check: func(c *swarm.WorkspaceCheck) { c.Removed = nil }}},
		"work is not seen":            {"inspect-changes-nothing", hooks{state: func(_ swarm.WorkspaceRef, s *swarm.WorkspaceState) { s.Kept = nil }}},
		"work is removed":             {"remove-keeps-work", hooks{remove: func(_ *swarm.WorkspaceRef, o *swarm.RemoveOptions) { o.Force = true }}},
		"nothing is saved":            {"remove-forced", hooks{result: func(r *swarm.RemoveResult) { r.Rescues = nil }}},
		"another directory is removed": {"remove-what-is-none", hooks{remove: func(ref *swarm.WorkspaceRef, o *swarm.RemoveOptions) {
			if !exists(mark(ref.Path, ref.ID)) {
				_ = os.RemoveAll(ref.Path)
			}
		}}},
		"any handle is accepted": {"invalid-handle", hooks{anyHandle: true}},
		"anything is found":      {"find-workspace", hooks{find: func(_ *swarm.WorkspaceRef, err *error) { *err = nil }}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := run(t, b.hooks)[b.rule]; r.Outcome != harness.Failed || len(r.Problems) == 0 {
				t.Errorf("%s: %s %q", b.rule, r.Outcome, r.Problems)
			}
		})
	}
}
