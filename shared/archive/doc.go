// Package archive writes files as a tar stream and makes files of one, below one directory which neither
// leaves: the names and links in the stream and in the directory may have been made to lead elsewhere.
//
// The host and the programs that backends return for [github.com/swarmhost/swarm/shared/swarm.Copier]
// import it.
package archive
