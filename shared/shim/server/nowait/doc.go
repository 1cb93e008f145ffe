// Package nowait reads and writes files that the runtime can poll without a thread for each call.
//
// A call of package os announces to the scheduler that its thread may block. On a busy machine the
// scheduler takes it at its word, even if the descriptor does not block, and starts another thread,
// which stays until the program ends. A shim has one thread for all calls that do not block, and
// a machine has thousands of shims.
package nowait
