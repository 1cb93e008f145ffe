package host

import (
	"fmt"

	"github.com/swarmhost/swarm/host/doctor"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/statedir"
)

// Profiles returns the profiles of this user. Files that can't be used are left out; the
// error says which and why.
func (h *Host) Profiles() (*profile.Set, error) { return h.profiles() }

// ProfileDirs returns the places of the profiles of agents.
func (h *Host) ProfileDirs() profile.Dirs { return profileDirs(h.opts) }

func profileDirs(o Options) profile.Dirs {
	return profile.Dirs{Own: o.ProfileDir, Bundle: statedir.Dir(o.Dir).ProfileBundle()}
}

// examineProfiles says which profiles of agents are used, and what is wrong with the others.
func (h *Host) examineProfiles() (found []doctor.Finding) {
	add := func(severity doctor.Severity, mend, what string, args ...any) {
		found = append(found, doctor.Finding{Severity: severity, Subject: "profiles", What: fmt.Sprintf(what, args...), Mend: mend})
	}
	const goBack = "swarm profiles update --builtin"
	set, err := h.Profiles()
	switch in := set.Installed(); {
	case in == nil:
		add(doctor.SeverityOK, "", "%s, built in", profile.BuiltInVersion())
	case in.Version == "":
		add(doctor.SeverityWarning, goBack, "the installed ones are not used: %s", in.Ignored)
		return found
	case in.Ignored != "":
		add(doctor.SeverityNote, goBack, "the installed ones, %s, are not used: %s", in.Version, in.Ignored)
	default:
		add(doctor.SeverityOK, "", "%s, installed from %s", in.Version, in.Origin.From)
	}
	if damaged := set.Damaged(); damaged != nil {
		add(doctor.SeverityWarning, goBack, "installed, and not used: %v", firstOf(damaged))
	}
	if err != nil {
		add(doctor.SeverityWarning, "", "%v; 'swarm profiles ls' has all problems", firstOf(err))
	}
	return found
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
