// Package environ reads and filters environments: lists of "NAME=value", as
// [os.Environ] returns them.
package environ

import (
	"slices"
	"strings"
)

// Get returns the last value of a variable, or "" if it is not set.
func Get(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// Unset returns env without the variables of those names; nil for nil. env is unchanged.
func Unset(env []string, names ...string) []string {
	return Without(env, func(name string) bool { return slices.Contains(names, name) })
}

// Without returns the entries of env for whose variables drop returns false, in their
// order; nil for nil. env is unchanged.
func Without(env []string, drop func(name string) bool) []string {
	if env == nil {
		return nil
	}
	kept := make([]string, 0, len(env))
	for _, entry := range env {
		if name, _, _ := strings.Cut(entry, "="); !drop(name) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// Set returns env with the variables of more, whose values replace those that env has. Neither is
// changed.
func Set(env []string, more ...string) []string {
	names := make([]string, 0, len(more))
	for _, entry := range more {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	return append(Unset(env, names...), more...)
}
