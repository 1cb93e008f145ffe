package host

import (
	"github.com/swarmhost/swarm/host/profile"
)

// Profiles returns the profiles of this user. Files that can't be used are left out; the
// error says which and why.
func (h *Host) Profiles() (*profile.Set, error) { return h.profiles.Load() }

// ProfileDirs returns the directories of the profiles of agents.
func (h *Host) ProfileDirs() profile.Dirs {
	return profile.Dirs{Own: h.opts.ProfileDir, Bundle: h.dir.ProfileBundle()}
}
