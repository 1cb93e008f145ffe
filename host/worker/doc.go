// Package worker has the words in which verbs speak of workers: how a worker is, which
// workers are meant, and why something could not be done with one. It reads them off
// records and off the answers of backends, and asks no other part.
package worker
