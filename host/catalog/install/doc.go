// Package install puts plugins into the state directory, and takes them out: an
// executable or an archive becomes plugins/NAME/VERSION, where package catalog
// finds it.
//
// A plugin is checked in a private copy first, so that it can't change in between:
// hashes, the paths in an archive, the kind of machine, and, by starting the plugin,
// its name and version. Then it appears by one rename. A failure before that leaves
// nothing behind.
//
// The package is imported by host. It starts nothing itself and knows no protocol.
package install
