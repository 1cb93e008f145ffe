// Package index reads indexes of plugins, and remembers those that a user has added.
//
// An index is a file index.json in a git repository, in a directory, or at a URL. Each that was added has
// a folder plugin-indexes/NAME in the state directory, with a copy of index.json and a record: its
// address, and the public key with which each of its plugins was signed when it was first seen. A key
// that is another one later is refused until the user trusts it, see [Store.Trust]: an attacker who can write an
// index can't put a plugin of their own in the place of one that is known.
//
// The package is imported by host/catalog/source and host/pluginadmin.
package index
