package client

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/sandbox"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/program"
	"github.com/swarmhost/swarm/shared/swarm"
)

// CheckSpawn returns the error with which a shim could not start a worker on this machine: its
// limits, its sandbox, its directory, its program and the interpreter of that, see
// [swarm.SpawnChecker]. It reads files and changes nothing.
func CheckSpawn(c swarm.SpawnCheck) error {
	spec := c.Spec
	if !spec.Limits.BestEffort {
		machine := cgroup.Look()
		for _, controller := range cgroup.NeededBy(spec.Limits) {
			if machine.Version(controller) == 0 {
				return fmt.Errorf("%w: the limit of %s can't be enforced: %s", swarm.ErrInvalidSpec, cgroup.Word(controller), machine.Missing(controller))
			}
		}
	}
	l := LaunchOf(spec)
	if spec.Sandbox == nil {
		if err := findProgram(l, !c.NoWorkspace); err != nil {
			return fmt.Errorf("%w: %w", swarm.ErrInvalidSpec, err)
		}
		return nil
	}
	if c.NoWorkspace {
		return nil // what is in the sandbox does not exist yet
	}
	box, err := sandbox.Look(spec)
	if err != nil {
		return err
	}
	if err := findInside(l, box); err != nil {
		return fmt.Errorf("%w: %w (in the sandbox)", swarm.ErrInvalidSpec, err)
	}
	return nil
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
