// Package config reads swarm's configuration files: the user's
// (~/.config/swarm/config.toml) and the project's (swarm.toml, found upwards
// from the working directory).
//
// It is strict. An unknown key and a value of the wrong type are
// problems, and [Load] reports all problems of all files at once, each with
// file, line, column, key and, where there is one, the key that was probably
// meant. The valid settings of a file with problems are still returned, so that
// a command which must not fail because of a config, such as kill, can go on.
//
// All that is known of a key is in one field of field.go or workerfield.go: how it
// is read and shown, and what [JSONSchema] says of it. The workers of a project are
// declarations here and nothing more; [Loaded.Environ] reads the files of variables
// that they name, and nothing does before it is asked.
//
// Only cmd/swarm imports it and turns a [Config] into what the host wants;
// it imports nothing of swarm itself. To look at one value needs no context and
// no plugin: whether a signal or a backend exists is for the caller to say, see
// [Checks].
package config
