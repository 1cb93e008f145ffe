package plugin

import (
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
)

// ErrPluginGone means that the plugin's process ended during the call or before it, or was
// closed by this host. It is unknown whether the call had an effect. The client can't be
// used any more: connect to a new process, and repeat idempotent calls.
var ErrPluginGone = wire.ErrGone

// ContractError means that a plugin was built for another version of the
// contract than this host.
type ContractError struct {
	// Plugin is the plugin's name.
	Plugin string
	// Host and Theirs are the versions of this host and of the plugin.
	Host, Theirs int
}

// Error names both versions and which side to update.
func (e *ContractError) Error() string {
	update := "the plugin"
	if e.Theirs > e.Host {
		update = "swarm"
	}
	return fmt.Sprintf("plugin '%s' speaks version %d of the plugin contract, this swarm speaks version %d: update %s",
		e.Plugin, e.Theirs, e.Host, update)
}
