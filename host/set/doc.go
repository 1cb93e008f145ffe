// Package set brings the workers that a project declares up and down, in the order of their
// dependencies, independent ones at the same time, without touching workers that need no
// change.
//
// It uses only the host, and has no state of its own: the declarations come from the
// caller, the present workers from the registry. cmd/swarm imports it, for up and down. It
// knows nothing of config files.
package set
