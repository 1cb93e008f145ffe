// Package proto holds the description of the protocol between host and plugins as
// text, for tools that hand it to authors in languages without an SDK. The
// protocol itself is documented in the files.
package proto

import "embed"

// Files are the .proto files, below the folder of their package.
//
//go:embed swarm/plugin/v1/*.proto
var Files embed.FS
