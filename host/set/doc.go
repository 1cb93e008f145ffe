// Package set brings the workers that a project declares up and down: each in
// its turn, those that do not wait for each other at the same time, and without
// touching what is as it should be.
//
// It has nothing but the host to do it with, and no state of its own: what is
// declared comes from the caller, what is there from the registry. cmd/swarm
// imports it, for up and down. It knows nothing of config files.
package set
