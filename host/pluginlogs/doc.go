// Package pluginlogs keeps what plugins write to their standard error, in a state directory: a
// file for each plugin, in which the text of each run is found again by the process that wrote
// it. The files are bounded, and nothing is written of a plugin that says nothing.
package pluginlogs
