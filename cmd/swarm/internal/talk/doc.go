// Package talk has the verbs that talk to workers: send, answer, keys, peek, explain, attach,
// interrupt, eof, signal.
package talk
