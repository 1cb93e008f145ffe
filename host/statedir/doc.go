// Package statedir knows the layout of a state directory: where run directories, locks
// and the journal are, and what a worker.json holds. It takes the locks of workers, and
// writes files whole or not at all. It knows nothing of the registry beyond the type of
// the record that a worker.json repeats, and it asks no plugin. host and the rooms beside
// it import it, it imports none of them.
package statedir

// Dir is the path of a state directory, absolute.
type Dir string
