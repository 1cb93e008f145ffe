// Package setup makes a host out of what a call finds around it: the
// environment, the state directory, the user's and the project's config file.
// Every program of ours that asks the host does it here, so that all of them see
// the same workers and obey the same files.
//
// It prints nothing: what is wrong is returned, and who calls decides whether it
// is an error or a warning. The package is imported by the commands of cmd alone.
package setup
