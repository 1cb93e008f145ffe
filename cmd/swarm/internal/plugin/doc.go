// Package plugin is "swarm plugin": plugins are listed, installed, removed, made and checked.
package plugin
