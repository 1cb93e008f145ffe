// Package config reads swarm's configuration files: the user's
// (~/.config/swarm/config.toml) and the project's (swarm.toml, found upwards
// from the working directory).
//
// It is strict. An unknown key and a value of the wrong type are
// problems, and [Load] reports all problems of all files at once, each with
// file, line, column, key and, where there is one, the key that was probably
// meant. The valid settings of a file with problems are still returned, so that
// a command which must not fail because of a config, such as kill, can continue.
//
// One field of field.go or workerfield.go defines all of a key: how it is read and shown,
// and its [JSONSchema]. The workers of a project are only declarations here;
// [Loaded.Environ] reads the files of variables that they name, and nothing else does.
//
// Only cmd/swarm imports it and turns a [Config] into what the host wants; it imports
// nothing of swarm itself. It checks each value by itself, without a plugin: the caller
// knows which signals and backends exist, see [Checks].
package config
