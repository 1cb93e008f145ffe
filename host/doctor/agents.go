package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host/lockfile"
	"github.com/swarmhost/swarm/host/notifier"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

func (d *examiner) notifiers(recs []registry.Record) {
	const subject = "notifiers"
	for _, r := range recs {
		holder, ok := d.opts.Notifier.Holder(r.ID)
		switch pid := holder.Process.PID; {
		case !ok:
			// No notifier lives, or it has only just begun or ended.
		case notifier.IsLate(holder):
			d.find(SeverityWarning, subject, fmt.Sprintf("kill %d", pid), "the notifier for '%s' (pid %d) should have ended by now", r.Name, pid)
		default:
			d.find(SeverityOK, subject, "", "one waits for '%s' to be at its prompt (pid %d, for %s)", r.Name, pid, time.Since(holder.Since).Round(time.Second))
		}
	}
}

// servers finds running workers whose MCP server outside of them has ended.
func (d *examiner) servers(recs []registry.Record) {
	for _, r := range recs {
		if r.State != registry.Running {
			continue
		}
		if _, err := os.Lstat(filepath.Join(d.opts.Dir.RunDir(r.ID), rundir.ServerDir)); err != nil || lockfile.IsHeld(d.opts.Dir.ServerLock(r.ID)) {
			continue
		}
		d.find(SeverityWarning, "mcp", "swarm respawn "+r.Name, "the program that serves 'swarm mcp' in '%s' has ended", r.Name)
	}
}

// profiles says which profiles of agents are used, and what is wrong with the others.
func (d *examiner) profiles() {
	const subject = "profiles"
	const goBack = "swarm profiles update --builtin"
	set, err := d.opts.Profiles.Load()
	switch in := set.Installed(); {
	case in == nil:
		d.find(SeverityOK, subject, "", "%s, built in", profile.BuiltInVersion())
	case in.Version == "":
		d.find(SeverityWarning, subject, goBack, "the installed ones are not used: %s", in.Ignored)
		return
	case in.Ignored != "":
		d.find(SeverityNote, subject, goBack, "the installed ones, %s, are not used: %s", in.Version, in.Ignored)
	default:
		d.find(SeverityOK, subject, "", "%s, installed from %s", in.Version, in.Origin.From)
	}
	if damaged := set.Damaged(); damaged != nil {
		d.find(SeverityWarning, subject, goBack, "installed, and not used: %v", firstOf(damaged))
	}
	if err != nil {
		d.find(SeverityWarning, subject, "", "%v; 'swarm profiles ls' has all problems", firstOf(err))
	}
}

// firstOf returns the first of several errors.
func firstOf(err error) error {
	for {
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok {
			return err
		}
		err = joined.Unwrap()[0]
	}
}
