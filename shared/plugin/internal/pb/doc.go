// Package pb is generated from shared/proto by .ci/generate. Only
// [github.com/swarmhost/swarm/shared/plugin] and the packages under it import
// it: no type of it is part of any API.
package pb
