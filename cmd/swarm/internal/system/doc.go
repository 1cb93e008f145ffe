// Package system has the verbs on swarm itself: doctor, completion, version.
package system
