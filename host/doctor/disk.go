package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// isDiskFull reports whether a file could not be written for lack of space.
func isDiskFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// space reports a full disk, and how to make space: by cleaning ended workers if their output
// is enough, which 'swarm clean' removes before it needs the database.
func (d *examiner) space(recs []registry.Record) {
	if !d.full {
		return
	}
	dir := string(d.opts.Dir)
	names, total := d.cleanable(recs, registry.MinSpace)
	mend := fmt.Sprintf("remove other files from it: cleaning ended workers would free %s only", humane.Bytes(total))
	switch {
	case total == 0:
		mend = "remove other files from it: no ended worker has output to remove"
	case total >= registry.MinSpace:
		mend = fmt.Sprintf("run 'swarm clean %s', which removes %s of output, or remove other files from it", strings.Join(names, " "), humane.Bytes(total))
	}
	d.find(SeverityError, "state directory", mend, "the disk of %s is full", dir)
}

// cleanable returns the names of ended workers whose kept output is enough bytes together, the
// largest first, and how much it is; or of all that have output.
func (d *examiner) cleanable(recs []registry.Record, enough int64) (names []string, total int64) {
	type kept struct {
		name  string
		bytes int64
	}
	var all []kept
	for _, r := range recs {
		if r.State != registry.Stopped {
			s, err := statedir.ReadStatus(d.opts.Dir.RunDir(r.ID))
			if err != nil || s.State != rundir.StateEnded {
				continue
			}
		}
		if log := statedir.ReadLog(d.opts.Dir.RunDir(r.ID)); log != nil && log.Bytes > 0 {
			all = append(all, kept{r.Name, log.Bytes})
		}
	}
	slices.SortStableFunc(all, func(a, b kept) int { return cmp.Compare(b.bytes, a.bytes) })
	for _, k := range all {
		names, total = append(names, k.name), total+k.bytes
		if total >= enough {
			break
		}
	}
	return names, total
}

// socket finds the socket of a shim that was killed. A shim that is about to end, right after
// it reported the end of its worker, removes it itself.
func (d *examiner) socket(r registry.Record, s swarm.StatusResult) {
	dir := d.opts.Dir.RunDir(r.ID)
	path := filepath.Join(dir, rundir.Socket)
	gone := r.State == registry.Stopped || r.IsRunning() && s.Err == nil && history.Over(s.Status)
	if _, err := os.Lstat(path); err != nil || !gone {
		return
	}
	st, err := statedir.ReadStatus(dir)
	boot, bootErr := proc.BootID()
	switch {
	case err != nil:
	case st.Shim.Alive():
		return
	case bootErr == nil && st.Shim.Boot != "" && st.Shim.Boot != boot:
		// It may have ended with the machine, and 'swarm resurrect' lists the worker then.
		return
	}
	// It may have removed the socket and ended just now.
	if _, err := os.Lstat(path); err == nil {
		d.find(SeverityWarning, "worker "+r.Name, "run 'swarm clean "+r.Name+"'", "its shim was killed and left %s", path)
	}
}
