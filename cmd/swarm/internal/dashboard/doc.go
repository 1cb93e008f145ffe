// Package dashboard holds the verbs that show all workers at once, each in a program of its
// own.
package dashboard
