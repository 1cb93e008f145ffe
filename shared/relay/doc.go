// Package relay passes the bytes of a connection on, in both directions.
//
// The host and the programs that backends return for
// [github.com/swarmhost/swarm/shared/swarm.Forwarder] import it.
package relay
