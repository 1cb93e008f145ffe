// Package store opens the registry of one state directory when it is first needed, for
// reading or for writing, and opens it anew when another database was put in its place. It
// runs the transactions of a call, and finds the records of workers by name. It knows
// nothing of plugins and of what a record means; host and the rooms beside it import it.
package store
