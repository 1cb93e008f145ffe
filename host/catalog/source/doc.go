// Package source finds the file that a user names to install a plugin: a file on this machine, a URL, a
// release on GitHub, a plugin of an index. It downloads that file and verifies it, and installs nothing.
//
// A file counts as verified by its hash, which the user or an index gives, or by the signature of a
// known key: one of the user's config for this source, or that of the index. Where a key is known, a
// file without its signature is refused, whatever else vouches for it.
//
// The package is imported by host/pluginadmin.
package source
