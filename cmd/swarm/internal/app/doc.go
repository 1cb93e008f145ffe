// Package app holds the environment of one call: its streams and variables, the host and the
// configuration that it works with, and the names that shells complete. Every verb gets
// an [App].
package app
