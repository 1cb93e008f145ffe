package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

type Severity string

// The severities.
const (
	// SeverityOK: the subject was examined and is fine.
	SeverityOK Severity = "ok"
	// SeverityNote: the subject does not work, and nothing here needs it.
	SeverityNote Severity = "note"
	// SeverityWarning: something is left over or odd; swarm works.
	SeverityWarning Severity = "warning"
	// SeverityError: something does not work until it is mended.
	SeverityError Severity = "error"
)

// Finding is the result of one check.
type Finding struct {
	Severity Severity
	// Subject is the examined thing, such as "database" or "plugin tmux".
	Subject string
	// The description of the finding in one line.
	What string
	// Mend says how to mend it; empty if there is nothing to mend.
	Mend string
	// WrongConfig says that the settings in a config file are wrong.
	WrongConfig bool
}

// Examine checks everything and reports damage and leftovers. Without rebuild it only
// writes a test file, and removes it again. With rebuild it recreates a damaged or missing
// database from the run directories, and keeps the damaged one next to it. It adds missing workers
// to a good database.
func Examine(ctx context.Context, o Options, rebuild bool) ([]Finding, error) {
	d := &examiner{opts: o}
	if rebuild {
		if err := d.rebuild(ctx); err != nil {
			return d.findings, err
		}
	}
	d.directory()
	recs, ok := d.database(ctx)
	d.space(recs)
	d.runDirs(ctx, recs, ok)
	if ok {
		d.workers(ctx, recs)
		d.notifiers(recs)
		d.servers(recs)
		d.saved(ctx)
	}
	d.limits(ctx, ok)
	d.sandboxes(ctx)
	d.shim()
	d.profiles()
	d.plugins(ctx, recs)
	return d.findings, ctx.Err()
}

type examiner struct {
	opts     Options
	findings []Finding
	// full says that the disk of the state directory has no space.
	full bool
	// gone are the ephemeral workers that a rebuild found to have ended.
	gone []string
}

func (d *examiner) find(s Severity, subject, mend, format string, args ...any) {
	d.findings = append(d.findings, Finding{Severity: s, Subject: subject, What: fmt.Sprintf(format, args...), Mend: mend})
}

func (d *examiner) directory() {
	const subject = "state directory"
	dir := string(d.opts.Dir)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.beforehand(dir)
		return
	case err != nil:
		d.find(SeverityError, subject, "make it readable", "%v", err)
		return
	case !info.IsDir():
		d.find(SeverityError, subject, "move it away, or set SWARM_DIR to another directory", "%s is not a directory", dir)
		return
	}
	before := len(d.findings)
	err = tryWrite(dir)
	if d.full = isDiskFull(err) || err == nil && registry.Full(dir); err != nil && !d.full {
		d.find(SeverityError, subject, "make it writable; until then workers can be seen and killed, but nothing is recorded", "%s can't be written: %v", dir, err)
	}
	d.private(dir, 0o700)
	for _, name := range []string{registry.File, registry.File + "-wal", registry.File + "-shm"} {
		path := filepath.Join(dir, name)
		if err := unix.Access(path, unix.R_OK|unix.W_OK); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.find(SeverityError, "permissions", "chmod 600 "+quote(path), "%s can't be read and written: %v", path, err)
		}
		d.private(path, 0o600)
	}
	d.private(filepath.Join(dir, statedir.WorkersDir), 0o700)
	d.private(filepath.Join(dir, statedir.LocksDir), 0o700)
	d.private(filepath.Join(dir, statedir.JournalDir), 0o700)
	entries, err := safefile.ReadDir(dir)
	if err != nil {
		d.find(SeverityError, subject, "make it readable", "%v", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), registry.BuildPrefix) && !isRecent(path) {
			d.find(SeverityWarning, subject, "rm -r "+quote(path), "%s is a leftover from creating a database", path)
		}
	}
	if len(d.findings) == before && !d.full {
		d.find(SeverityOK, subject, "", "%s", dir)
	}
}

// beingMade is how long another call may take to make what lies in the state directory.
const beingMade = time.Minute

// isRecent reports whether a directory may still be in use by the call that made it.
func isRecent(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) < beingMade
}

// private checks the permissions of a file for other users. For a symbolic link, these are
// the permissions of its target.
func (d *examiner) private(path string, want fs.FileMode) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		d.find(SeverityError, "permissions", "make it readable", "%v", err)
		return
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		d.find(SeverityWarning, "permissions", fmt.Sprintf("chmod %o %s", want, quote(path)), "%s is open to others (mode %04o)", path, mode)
	}
}

// database examines the registry. It returns the records and reports whether they could be
// read.
func (d *examiner) database(ctx context.Context) ([]registry.Record, bool) {
	const subject = "database"
	path := filepath.Join(string(d.opts.Dir), registry.File)
	reg, err := d.opts.Store.ToRead(ctx)
	if err == nil && reg == nil {
		d.find(SeverityOK, subject, "", "there is none yet")
		return nil, true
	}
	var recs []registry.Record
	var warnings []string
	if err == nil {
		err = reg.Check(ctx)
	}
	if err == nil {
		recs, warnings, err = reg.Read(ctx, registry.Query{})
	}
	if err != nil {
		damaged, isDamaged := errors.AsType[*registry.DamagedError](err)
		switch {
		case errors.Is(err, registry.ErrNewer):
			d.find(SeverityError, subject, "use that swarm, or set SWARM_DIR to another directory", "%v", err)
		case errors.Is(err, registry.ErrUnreleased):
			d.find(SeverityError, subject, "move "+quote(string(d.opts.Dir))+" away, or set SWARM_DIR to another directory", "%v", err)
		case errors.Is(err, registry.ErrMissing):
			d.find(SeverityError, subject, "run 'swarm doctor --rebuild'", "%s is gone or empty, but there are run directories of workers", path)
		case isDamaged:
			d.find(SeverityError, subject, "run 'swarm doctor --rebuild'; the damaged file is kept next to the new one", "%s is damaged: %v", path, damaged.Cause)
		default:
			d.find(SeverityError, subject, "fix the cause; if the file itself is damaged, run 'swarm doctor --rebuild'", "%v", err)
		}
		return nil, false
	}
	for _, w := range warnings {
		d.find(SeverityWarning, subject, "move "+path+" aside and run 'swarm doctor --rebuild'", "%s", w)
	}
	if len(warnings) == 0 {
		d.find(SeverityOK, subject, "", "%s: schema %d, %d worker(s)", path, registry.Schema, len(recs))
	}
	d.teams(ctx)
	return recs, true
}

func (d *examiner) runDirs(ctx context.Context, recs []registry.Record, known bool) {
	const subject = "run directories"
	before := len(d.findings)
	ids, err := d.opts.Dir.RunDirs()
	if err != nil {
		d.find(SeverityError, subject, "make it readable", "%v", err)
		return
	}
	previous := map[string]bool{}
	for _, r := range recs {
		for _, id := range r.Previous {
			previous[id] = true
		}
	}
	left := d.leftovers(ctx)
	for _, id := range ids {
		dir := d.opts.Dir.RunDir(id)
		stray := known && registry.IndexOf(recs, id) < 0
		_, err := d.opts.Dir.ReadWorkerFile(id)
		switch {
		case previous[id]:
			// It goes with the worker that took its place.
		case (stray || errors.Is(err, fs.ErrNotExist)) && d.opts.Dir.Locked(id):
			// It is being made or removed.
		case stray && (slices.Contains(left, id) || d.removedOnPurpose(ctx, id)):
			if !d.opts.Dir.Kept(id) { // else it goes with its shim
				d.find(SeverityWarning, subject, "run 'swarm gc'", "%s belongs to a removed worker", dir)
			}
		case stray && err != nil:
			mend := "rm -r " + quote(dir)
			if d.opts.Dir.Abandoned(id) {
				mend = "run 'swarm gc'"
			}
			d.find(SeverityWarning, subject, mend, "%s is a leftover: it belongs to no worker (%v)", dir, err)
		case stray:
			d.find(SeverityWarning, subject, "run 'swarm doctor --rebuild' to bring its worker back, then 'swarm clean' it", "%s belongs to a worker that is not in the registry", dir)
		case err != nil:
			mend := "nothing to do unless the database is lost too"
			if !d.opts.Dir.HasWorkerFile(id) {
				mend = "run 'swarm gc', which writes it again"
			}
			d.find(SeverityWarning, subject, mend, "%s: %v", dir, err)
		}
	}
	if len(d.findings) == before {
		d.find(SeverityOK, subject, "", "%d", len(ids))
	}
}

// leftovers returns the ids of the run directories whose records were deleted on purpose.
func (d *examiner) leftovers(ctx context.Context) []string {
	reg, err := d.opts.Store.ToRead(ctx)
	if err != nil || reg == nil {
		return nil
	}
	left, err := reg.Leftovers(ctx)
	warn.If(d.opts.Logger, err, "the leftovers can't be read")
	return left
}

func (d *examiner) removedOnPurpose(ctx context.Context, id string) bool {
	reg, err := d.opts.Store.ToRead(ctx)
	return err == nil && reg != nil && d.opts.History.RemovedOnPurpose(ctx, reg, id)
}

func (d *examiner) workers(ctx context.Context, recs []registry.Record) {
	before := len(d.findings)
	statuses := make([]swarm.StatusResult, len(recs))
	backend.Each(d.opts.Plugins.Groups(recs, registry.Record.IsRunning), func(g *backend.Group) {
		for i, s := range d.opts.Plugins.Statuses(ctx, g) {
			statuses[g.At[i]] = s
		}
	})
	for i, r := range recs {
		d.worker(r, statuses[i])
		d.socket(r, statuses[i])
	}
	if len(d.findings) == before {
		d.find(SeverityOK, "workers", "", "%d", len(recs))
	}
}

func (d *examiner) saved(ctx context.Context) {
	works, _, err := d.opts.Saved.List(ctx)
	switch {
	case err != nil:
		d.find(SeverityNote, "saved work", "", "cannot be counted: %v", err)
	case len(works) > 0:
		d.find(SeverityOK, "saved work", "", "%d, see 'swarm rescue ls'", len(works))
	}
}

// worker examines one worker. s is the answer of its backend if it is recorded as
// running.
func (d *examiner) worker(r registry.Record, s swarm.StatusResult) {
	subject := "worker " + r.Name
	reason, unknown := history.WhyUnknown(s)
	kill := "run 'swarm kill " + r.Name + "'"
	switch {
	case r.State == registry.Starting && !d.opts.Dir.Locked(r.ID):
		d.find(SeverityWarning, subject, kill+" and 'swarm clean "+r.Name+"'", "its %s", history.ReasonInterrupted)
	case !r.IsRunning():
	case unknown:
		d.find(SeverityError, subject, d.mendUnknown(r), "%s", reason)
	case s.Status.State == swarm.StateLost && len(s.Status.Survivors) > 0:
		d.find(SeverityWarning, subject, kill, "its shim died; still alive: %s", history.Processes(s.Status.Survivors))
	case s.Status.State == swarm.StateLost && len(s.Status.PerhapsAlive) > 0:
		d.find(SeverityWarning, subject,
			"end it if it is the worker's; if it is not, or shall continue, run 'swarm clean "+r.Name+" --forget'",
			"its shim died; %s", history.PerhapsAlive(s.Status.PID, s.Status.PerhapsAlive))
	}
	if backend.RemovalCut(&r) {
		d.find(SeverityWarning, subject, "run 'swarm gc'", "the removal of its workspace %s was interrupted", r.Workspace.Path)
	} else if r.Workspace != nil && r.Workspace.Host == "" {
		if _, err := os.Stat(r.Workspace.Path); errors.Is(err, fs.ErrNotExist) {
			d.find(SeverityWarning, subject, "run 'swarm clean "+r.Name+"' when it is not needed any more", "its workspace %s is gone", r.Workspace.Path)
		}
	}
	if dir := d.opts.Dir.RunDir(r.ID); r.IsRunning() && !unknown && s.Status.State == swarm.StateRunning {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			d.find(SeverityWarning, subject, kill, "its run directory %s is gone; its output and its exit are lost", dir)
		}
	}
}

func (d *examiner) mendUnknown(r registry.Record) string {
	dir := d.opts.Dir.RunDir(r.ID)
	_, err := statedir.ReadStatus(dir)
	switch {
	case err == nil:
		return fmt.Sprintf("check its backend '%s' ('swarm plugin list' shows the plugins), or end it by its shim with 'swarm kill %s'", r.Backend, r.Name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("check its backend '%s'; 'swarm plugin list' shows the plugins", r.Backend)
	case errors.Is(err, fs.ErrPermission):
		return "make sure that " + filepath.Join(dir, rundir.StatusFile) + " can be read"
	default:
		// Its shim writes another one when it ends, and kill needs none.
		remove, path := "rm", filepath.Join(dir, rundir.StatusFile)
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			remove = "rm -r"
		}
		return fmt.Sprintf("%s %s, then 'swarm kill %s'", remove, quote(path), r.Name)
	}
}

func (d *examiner) shim() {
	path, err := d.opts.Catalog.ProgramPath(backend.ShimName)
	if err != nil {
		d.find(SeverityError, "shim", "install swarm-shim next to swarm ('make install')", "%v", err)
		return
	}
	d.find(SeverityOK, "shim", "", "%s", path)
}

func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// beforehand examines the directory in which the state directory will be made.
func (d *examiner) beforehand(dir string) {
	const subject = "state directory"
	at := filepath.Dir(dir)
	for at != filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		at = filepath.Dir(at)
	}
	if err := tryMake(at); err != nil {
		d.find(SeverityError, subject, "make "+at+" writable, or set SWARM_DIR to another directory",
			"%s does not exist, and can't be made: %v", dir, err)
		return
	}
	d.find(SeverityOK, subject, "", "%s does not exist yet", dir)
}

// tryWrite writes a file into a directory and removes it. The mode of the directory says
// nothing of a quota or a read-only mount.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return err
	}
	_, err = f.WriteString("written by swarm doctor\n")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func tryMake(dir string) error {
	made, err := os.MkdirTemp(dir, ".swarm-doctor-")
	if err != nil {
		return err
	}
	return os.Remove(made)
}

func (d *examiner) teams(ctx context.Context) {
	const subject = "teams"
	var teams []registry.Team
	var agents []registry.Agent
	var warnings []string
	err := d.opts.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		var more []string
		if teams, warnings, err = tx.Teams(ctx); err == nil {
			agents, more, err = tx.Agents(ctx, registry.AgentQuery{})
		}
		warnings = append(warnings, more...)
		return err
	})
	switch {
	case err != nil:
		d.find(SeverityError, subject, "fix the cause; if the database is damaged, run 'swarm doctor --rebuild'", "%v", err)
	case len(warnings) == 0 && len(teams) > 0:
		d.find(SeverityOK, subject, "", "%d, with %d agent(s)", len(teams), len(agents))
	}
	for _, w := range warnings {
		d.find(SeverityWarning, subject, "its worker can be killed by 'swarm kill'; the rest goes with 'swarm team delete'", "%s", w)
	}
}
