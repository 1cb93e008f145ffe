// Package oneproc lets a program begin on one processor. A command that is done within
// milliseconds has nothing to share out: on several processors Go starts threads for the
// others, wakes them, and moves work between their caches, which made `swarm status` of one
// worker a sixth slower. Only the main packages of such programs import it.
package oneproc

import (
	"runtime"
	"time"
)

// long is how long a program counts as a short one. `swarm status` takes half of it.
const long = 25 * time.Millisecond

// all is how many processors the program may use. Little is initialized before it, because
// this package imports little: the rest is done on one processor.
var all = runtime.GOMAXPROCS(1)

// Begin is the first call of main: a program that still runs after a while gets all its
// processors. Without it there is one for good.
func Begin() { time.AfterFunc(long, All) }

// All gives the program all its processors at once, as the tests of a main package want.
func All() { runtime.GOMAXPROCS(all) }
