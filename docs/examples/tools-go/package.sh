#!/usr/bin/env bash
# package.sh VERSION: writes what a release has into dist: an archive for each kind of machine, by the names that
# 'swarm plugin install' knows, and their hashes. MACHINES has the kinds of machines, in Go's words.
set -euo pipefail
version=$1
rm -rf dist
mkdir dist
for machine in ${MACHINES:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}; do
  os=${machine%/*} arch=${machine#*/}
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags "-s -w -X main.version=$version" -o dist/swarm-plugin-notes .
  tar -czf "dist/swarm-plugin-notes_${version}_${os}_$arch.tar.gz" -C dist swarm-plugin-notes
done
rm dist/swarm-plugin-notes
cd dist
sha256sum *.tar.gz > SHA256SUMS
