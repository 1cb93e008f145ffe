// Package history says in which words the history tells what happens to workers: the
// kinds of events, and the one event that is the end of a worker. It derives an event from
// what a backend said, so whoever writes it first writes the same. It writes nothing
// itself, and asks nobody.
package history
