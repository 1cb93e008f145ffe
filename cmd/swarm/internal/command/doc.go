// Package command holds what the cobra commands of swarm share: checks of arguments, types
// of flags, the selection of workers, groups of verbs, and suggestions for unknown words.
package command
