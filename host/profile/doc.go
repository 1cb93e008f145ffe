// Package profile describes each coding agent: how its command is recognised, what its
// screen shows in which state, and how text is entered. A profile is data, one TOML file
// for each agent; those of this package are embedded, and files of the user override and
// extend them.
//
// A screen is text that the worker wrote, so nothing here is a proof: the result of
// [Profile.Look] is for people, and can prevent typing. It must never make swarm answer a
// dialog.
//
// It is imported by host and the packages above it, and works only on text and files.
package profile
