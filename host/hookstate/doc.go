// Package hookstate is the file in a worker's run directory in which the hooks of a
// coding agent note down what the agent does: [File].
//
// The worker can write the file itself, so it is the worker's own claim: it says
// something about this worker for people and for refusing to type, and proves nothing.
// It is read with a limit, its texts are made harmless, and a session id is believed
// only if it can't be taken for anything else on a command line.
package hookstate
