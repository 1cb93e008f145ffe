// Package profile holds what is known of each coding agent: how its command is
// recognised, what its screen shows in which state, and how text is entered. A
// profile is data, one TOML file for each agent; those of this package are embedded,
// and files of the user override and extend them.
//
// A screen is text that the worker wrote, so nothing here is proof: what [Profile.Look]
// says is for people, and for refusing to type. It must never make swarm answer a
// dialog.
//
// It is imported by host and by what is above it, and knows of text and files alone.
package profile
