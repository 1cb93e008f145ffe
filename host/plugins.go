package host

import "context"

// PluginStatus is what is known of one plugin.
type PluginStatus struct {
	Name string
	// Kind is "backend" or "workspace"; empty if it could not be started.
	Kind    string
	Version string
	// Path is the executable.
	Path         string
	Capabilities []string
	// Local says that it runs workers on this machine.
	Local bool
	// Err is why it does not work; nil if it does.
	Err error
}

// PluginList starts all plugins that can be found and tells how they are, sorted
// by name.
func (h *Host) PluginList(ctx context.Context) []PluginStatus { return nil }
