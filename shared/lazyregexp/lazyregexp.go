// Package lazyregexp compiles regular expressions when they are first used: every call of swarm
// links nearly all of them, and few calls use any.
package lazyregexp

import (
	"regexp"
	"strings"
	"sync"
)

// New returns a function that returns the expression which matches one of the alternatives. The
// function compiles it once, and panics if that fails.
func New(alternatives ...string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(alternatives, "|")) })
}
