package host

import (
	"context"
	"sync"
	"time"
)

// checkLimit is how long a plugin may take to say whether it can work.
const checkLimit = 10 * time.Second

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
func (h *Host) PluginList(ctx context.Context) []PluginStatus {
	found := h.catalog.List()
	list := make([]PluginStatus, len(found))
	var wg sync.WaitGroup
	for i, f := range found {
		s := &list[i]
		*s = PluginStatus{Name: f.Entry.Name, Path: f.Entry.Path(), Err: f.Err}
		if f.Err != nil {
			continue
		}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, checkLimit)
			defer cancel()
			s.Err = h.ask(ctx, f.Entry, false, func(p *peer) error {
				s.Kind, s.Version, s.Local = string(p.Kind), p.Version, p.Local
				for _, c := range p.Capabilities {
					s.Capabilities = append(s.Capabilities, string(c))
				}
				return p.check(ctx)
			})
		})
	}
	wg.Wait()
	return list
}
