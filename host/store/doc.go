// Package store opens the registry of one state directory at the first use, for reading or
// for writing, and opens it again when the database was replaced. It runs the transactions
// of a call, and finds the records of workers by name. It does not use plugins or interpret
// records; host and the packages next to it import it.
package store
