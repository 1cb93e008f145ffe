package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/cgroup"
)

// delegate is how systemd gives the sessions of users control groups of their own.
const delegate = `mkdir -p /etc/systemd/system/user@.service.d && ` +
	`printf '[Service]\nDelegate=cpu cpuset io memory pids\n' > /etc/systemd/system/user@.service.d/delegate.conf && ` +
	`systemctl daemon-reload (as root), log in again, and start swarm in 'systemd-run --user --scope bash'`

// limits reports what of a worker this machine can limit, and groups that are left over.
func (d *examiner) limits(ctx context.Context, known bool) {
	const subject = "limits"
	m := cgroup.Look()
	offered := map[int][]string{}
	var missing []string
	for _, c := range cgroup.Controllers {
		word := cgroup.Word(c)
		if c == cgroup.Freezer {
			word = "pause"
		}
		if v := m.Version(c); v > 0 {
			offered[v] = append(offered[v], word)
		} else if c != cgroup.Freezer {
			missing = append(missing, fmt.Sprintf("%s: %s", word, m.Missing(c)))
		}
	}
	var parts []string
	for _, v := range []int{2, 1} {
		if len(offered[v]) > 0 {
			parts = append(parts, fmt.Sprintf("%s by control groups v%d", strings.Join(offered[v], ", "), v))
		}
	}
	if len(parts) > 0 {
		d.find(SeverityOK, subject, "", "%s", strings.Join(parts, "; "))
	}
	if len(missing) > 0 {
		mend := ""
		if m.Version(cgroup.Memory) == 0 || m.Version(cgroup.PIDs) == 0 || m.Version(cgroup.CPU) == 0 {
			mend = delegate
		}
		d.find(SeverityNote, subject, mend, "%s", strings.Join(slices.Compact(missing), "; "))
	}
	if known {
		d.leftGroups(ctx)
	}
}

// leftGroups reports the control groups of workers that do not run.
func (d *examiner) leftGroups(ctx context.Context) {
	reg, err := d.opts.Store.Reading(ctx)
	if err != nil || reg == nil {
		return // reported before
	}
	left, err := d.opts.History.LeftGroups(ctx, reg)
	if err != nil || len(left) == 0 {
		return
	}
	d.find(SeverityWarning, "control groups", "run 'swarm gc'", "%d of worker(s) that do not run are left over in %s", len(left), cgroup.ParentName(string(d.opts.Dir)))
}
