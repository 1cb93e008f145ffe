package tool

import (
	"fmt"
	"slices"
	"strings"
)

// Set is a group of tools that a server offers together.
type Set string

// The sets of tools.
const (
	// Shells run commands, in the foreground and in the background of a session.
	Shells Set = "shells"
	// Workers look after workers that outlive the session.
	Workers Set = "workers"
	// Teams are for agents that work together, and for who leads them.
	Teams Set = "teams"
)

// Sets returns all sets, in the order in which their tools are listed.
func Sets() []Set { return []Set{Shells, Workers, Teams} }

// ParseSets reads names of sets that are separated by commas.
func ParseSets(text string) ([]Set, error) {
	var sets []Set
	for name := range strings.SplitSeq(text, ",") {
		set := Set(strings.TrimSpace(name))
		if !slices.Contains(Sets(), set) {
			return nil, fmt.Errorf("unknown set of tools '%s': use one or more of %s, separated by commas", set, JoinSets(Sets()))
		}
		if !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	return sets, nil
}

// JoinSets writes sets as [ParseSets] reads them.
func JoinSets(sets []Set) string {
	names := make([]string, len(sets))
	for i, set := range sets {
		names[i] = string(set)
	}
	return strings.Join(names, ",")
}
