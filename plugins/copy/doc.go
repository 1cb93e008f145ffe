// Package copy makes workspaces by copying a directory, which need not be a repository, and removes
// them without ever losing work. It implements [swarm.Workspace]; swarm-plugin-copy serves it.
// Nothing else imports it.
//
// # Where things are
//
// The copy of /src/app for the worker fix is /src/app-copies/fix, unless a parent is named. Next to
// it, .swarm-copies/<id of the worker> holds what is known of the copy: which files Create made, with
// size, times and hash, and the original of each file that shares its blocks with the copy. Saved work
// is in /src/app-copies/.saved, wherever the copy was, so that it is found by the base alone.
//
// # What counts as work
//
// Every file, link and directory that differs from what Create made, and each one that is new or
// missing. The times of a file alone do not count as work. Anything that can't be read keeps the copy.
//
// # The state at Create
//
// The base may change later, so it can't say what the worker has changed. The list of files can, and
// it is always kept. Their contents are kept as well where the file system shares blocks (FICLONE),
// as that costs nothing. Elsewhere a second copy would double the space; there the base has the content
// for as long as its file has the hash of the list, and later a difference says that it is gone.
//
// # How it is removed
//
// A reference is believed only if the list is there and the directory at the path is the one that Create
// made, by device and inode. Work is saved as a compressed archive first, on the disk. Then the
// directory is renamed, looked at once more, and only then removed; if anything has changed meanwhile,
// it gets its name back. No link is followed, and nothing below a mount point is removed.
package copy
