package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/swarmhost/swarm/host/pluginadmin"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// plugins asks every plugin whether it can work. That a plugin lacks something, such as
// git, tmux or a cluster, matters only if the plugin is used.
func (d *examiner) plugins(ctx context.Context, recs []registry.Record) {
	backends, broken := 0, false
	for _, p := range d.opts.Admin.List(ctx) {
		subject := "plugin " + p.Name
		if p.Err != nil && lacks(p) && !d.uses(recs, p.Name) {
			d.find(SeverityNote, subject, "", "not in use: %v", p.Err)
			continue
		}
		if p.Err != nil {
			broken = true
			d.find(SeverityError, subject, d.mendPlugin(p), "%v", p.Err)
			d.findings[len(d.findings)-1].WrongConfig = errors.Is(p.Err, swarm.ErrInvalidConfig)
			continue
		}
		if p.Kind == "backend" {
			backends++
		}
		if p.Uses != "" {
			d.find(SeverityOK, subject, "", "%s %s with %s, %s", p.Kind, p.Version, p.Uses, p.Path)
		} else {
			d.find(SeverityOK, subject, "", "%s %s, %s", p.Kind, p.Version, p.Path)
		}
	}
	switch {
	case backends > 0:
	case broken:
		d.find(SeverityError, "plugins", "mend what is wrong with the plugins above", "no backend works")
	default:
		d.find(SeverityError, "plugins", "install the swarm-plugin-… programs next to swarm ('make install')", "no backend works")
	}
}

// lacks reports whether a plugin was started and then found something missing.
func lacks(p pluginadmin.Status) bool {
	return p.Kind != "" && (!p.Local || errors.Is(p.Err, swarm.ErrUnavailable))
}

func (d *examiner) configured(name string) bool {
	_, configured := d.opts.Settings[name]
	return configured
}

// uses reports whether a plugin was asked for, or a worker was made with it.
func (d *examiner) uses(recs []registry.Record, name string) bool {
	return d.configured(name) || slices.Contains(d.opts.Wanted, name) || slices.ContainsFunc(recs, func(r registry.Record) bool {
		if r.Ask != nil {
			return r.Backend == name || r.Ask.Plugin == name
		}
		return r.Backend == name || r.Workspace != nil && name == d.opts.DefaultWorkspace
	})
}

func (d *examiner) mendPlugin(p pluginadmin.Status) string {
	switch {
	case errors.Is(p.Err, swarm.ErrInvalidConfig):
		return fmt.Sprintf("correct [plugins.%s.config]; 'swarm config check' says in which line", p.Name)
	case p.Kind != "":
		return "check what it needs; the other plugins work without it"
	case p.Installed != nil, p.Path == "" && len(p.Versions) > 0:
		return fmt.Sprintf("'swarm plugin verify %s' shows what was changed; install it again, or remove it with 'swarm plugin remove'", p.Name)
	case d.configured(p.Name):
		return fmt.Sprintf("check it, or [plugins.%s] in the config; 'swarm config show' says where that is", p.Name)
	}
	return "repair it, or remove " + p.Path
}
