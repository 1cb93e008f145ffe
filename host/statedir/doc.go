// Package statedir defines the layout of a state directory: the run directories, the locks,
// the journal, and the content of worker.json. It takes the locks of workers, and writes
// files whole or not at all. Of the registry it uses only the type of the record that
// worker.json repeats, and it calls no plugin. host and the packages next to it import it; it
// imports none of them.
package statedir

// Dir is the path of a state directory, absolute.
type Dir string
