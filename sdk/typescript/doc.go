// Package typescript holds the SDK for plugins in TypeScript, which is the npm package @swarmhost/plugin,
// as text: 'swarm plugin new' writes its files into a plugin, which so needs no published package.
package typescript

import "embed"

// Files are the sources of the SDK, in src, and in proto what the protocol needs in addition to
// [github.com/swarmhost/swarm/shared/proto]: the form of the errors of gRPC.
//
//go:embed proto/*.proto src/errors.ts src/serve.ts src/shim.ts
var Files embed.FS
