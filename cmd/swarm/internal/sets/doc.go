// Package sets has the verbs on declared workers: up, down.
package sets
