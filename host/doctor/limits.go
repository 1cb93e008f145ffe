package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/sandbox"
	"github.com/swarmhost/swarm/shared/swarm"
)

// delegate is how a session of a user under systemd gets control groups of its own.
const delegate = `start swarm in 'systemd-run --user --scope bash'; if that is not enough, run as root: mkdir -p /etc/systemd/system/user@.service.d && ` +
	`printf '[Service]\nDelegate=cpu cpuset io memory pids\n' > /etc/systemd/system/user@.service.d/delegate.conf && ` +
	`systemctl daemon-reload, and log in again`

// limits reports what of a worker this machine can limit, and groups that are left over.
func (d *examiner) limits(ctx context.Context, known bool) {
	const subject = "limits"
	m := cgroup.Look()
	offered := map[int][]string{}
	missing := map[string][]string{} // by the reason
	var reasons []string
	for _, c := range cgroup.Controllers {
		word := cgroup.Word(c)
		if c == cgroup.Freezer {
			word = "pause"
		}
		if v := m.Version(c); v > 0 {
			offered[v] = append(offered[v], word)
		} else if c != cgroup.Freezer {
			why := m.Missing(c)
			if missing[why] == nil {
				reasons = append(reasons, why)
			}
			missing[why] = append(missing[why], word)
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
	if len(reasons) > 0 {
		mend := ""
		if m.Version(cgroup.Memory) == 0 || m.Version(cgroup.PIDs) == 0 || m.Version(cgroup.CPU) == 0 {
			mend = delegate
		}
		for i, why := range reasons {
			reasons[i] = strings.Join(missing[why], ", ") + ": " + why
		}
		d.find(SeverityNote, subject, mend, "%s", strings.Join(reasons, "; "))
	}
	if known {
		d.leftGroups(ctx)
	}
}

func (d *examiner) sandboxes(ctx context.Context) {
	const subject = "sandboxes"
	version, err := sandbox.Check(ctx)
	if err != nil {
		d.find(SeverityNote, subject, "", "%s", errtext.Line(err, swarm.ErrUnavailable))
		return
	}
	d.find(SeverityOK, subject, "", "made by %s", version)
}

func (d *examiner) leftGroups(ctx context.Context) {
	reg, err := d.opts.Store.ToRead(ctx)
	if err != nil || reg == nil {
		return // reported before
	}
	left, err := d.opts.History.LeftGroups(ctx, reg)
	if err != nil || len(left) == 0 {
		return
	}
	d.find(SeverityWarning, "control groups", "run 'swarm gc'", "%d group(s) of workers that do not run are left over in %s", len(left), cgroup.ParentName(string(d.opts.Dir)))
}
