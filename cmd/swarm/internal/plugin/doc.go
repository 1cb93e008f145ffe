// Package plugin is "swarm plugin": plugins are listed, installed, removed, made, checked and debugged.
package plugin
