package wire

import "github.com/swarmhost/swarm/shared/swarm"

// Contracts are the versions of the contract that one side speaks.
type Contracts struct{ Oldest, Newest uint32 }

// Spoken are the versions that this SDK speaks.
func Spoken() Contracts { return Contracts{swarm.OldestContractVersion, swarm.ContractVersion} }

// ContractsOf returns the versions of a peer; one that says nothing of older ones speaks none.
func ContractsOf(newest, oldest uint32) Contracts {
	if oldest == 0 || oldest > newest {
		oldest = newest
	}
	return Contracts{oldest, newest}
}

// Common returns the newest version that both sides speak; false: there is none.
func (c Contracts) Common(other Contracts) (version uint32, ok bool) {
	version = min(c.Newest, other.Newest)
	return version, version >= max(c.Oldest, other.Oldest, 1)
}
