package host

import (
	"fmt"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// OwnerOf names a process of this machine as the owner of workers: when it ends,
// they are killed.
func OwnerOf(pid int) (swarm.Owner, error) {
	p, err := proc.Read(pid)
	if err != nil || !p.Alive() {
		return swarm.Owner{}, worker.Invalid(fmt.Sprintf("no such process: %d", pid))
	}
	return swarm.Owner{PID: p.PID, Start: p.Start, Boot: p.Boot}, nil
}

// ownerFor returns what a backend is told of a worker's owner: processes of this
// machine mean nothing elsewhere, and where nobody looks after it, the host does.
func ownerFor(p *backend.Peer, o *swarm.Owner) *swarm.Owner {
	if !p.Local || !p.Has(swarm.CapOwner) {
		return nil
	}
	return o
}
