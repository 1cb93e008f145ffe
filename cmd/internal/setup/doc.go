// Package setup makes a host from the surroundings of a call: the environment, the state
// directory, the user's and the project's config file. Every program of ours that uses the
// host opens it here, so that all of them see the same workers and obey the same files.
//
// It prints nothing: it returns problems, and the caller decides whether they are errors or
// warnings. The package is imported by the commands of cmd alone.
package setup
