// Package hookstate is the file in a worker's run directory in which the hooks of a coding
// agent record its state: [File].
//
// The worker can write the file itself, so it is the worker's own claim: it serves people,
// and can prevent typing, but proves nothing. It is read with a limit, its texts are made
// harmless, and a session id is believed only if it can't be taken for anything else on a
// command line.
package hookstate
