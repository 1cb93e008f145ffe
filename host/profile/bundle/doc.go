// Package bundle reads and writes bundles of profiles: the rules by which the screens of coding
// agents are read, together with the recorded screens that test them. It knows the files of a
// bundle and its version, and nothing of what is in a profile or on a screen.
//
// A bundle is a directory, or an archive of one:
//
//	bundle.toml             format and version
//	NAME.toml               the profile of an agent
//	screens/NAME/STATE….txt a recorded screen of that agent
//
// It is imported by host/profile and by commands, and works only on files.
package bundle
