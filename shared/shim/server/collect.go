package server

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

// maxHeap is how much memory may be used or free to be collected, in bytes. By itself the runtime
// collects at 4 MiB, which is more than all else of a shim together.
const maxHeap = 512 << 10

// memory is what the last look found; it is too large for a stack.
var memory runtime.MemStats

// collect gives the memory that is not used any more back to the system, once there is much of it.
// A collection itself uses some, so it is not done more often.
func collect() {
	if runtime.ReadMemStats(&memory); memory.HeapAlloc > maxHeap {
		freeOSMemory()
	}
}

// freeOSMemory is [runtime/debug.FreeOSMemory]; that package links fmt.
//
//go:linkname freeOSMemory runtime/debug.freeOSMemory
func freeOSMemory()
