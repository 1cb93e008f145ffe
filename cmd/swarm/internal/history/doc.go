// Package history has the verbs on the history: events, watch, gc.
package history
