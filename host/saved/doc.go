// Package saved finds the work that was saved from removed workspaces, brings it back or
// deletes it, and reports what the work in a workspace has changed. The plugin that makes
// workspaces does all of it; this package finds the repositories to ask about.
package saved
