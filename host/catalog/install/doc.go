// Package install puts plugins into the state directory, and takes them out: an
// executable or an archive becomes plugins/NAME/VERSION, where package catalog
// finds it.
//
// What is installed was looked at first, in a private copy, so that nobody changes
// it in between: hashes, the paths in an archive, the kind of machine, and, by
// starting it, what the plugin says of itself. Then it appears by one rename.
// Whatever goes wrong before leaves nothing.
//
// The package is imported by host. It starts nothing itself and knows no protocol.
package install
