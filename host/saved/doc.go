// Package saved finds the work that was saved from removed workspaces, and brings it back or
// deletes it. The plugin that makes workspaces does all of it; this package finds the
// repositories to ask about.
package saved
