// Package worktree makes git worktrees for workers, and removes them without
// ever losing work. It implements [swarm.Workspace]; swarm-plugin-worktree serves it, and
// swarm-remote on the host of a worker behind ssh. Nothing else imports it.
//
// # What counts as work
//
// A worktree is removed only when everything in it exists somewhere else too:
// in a commit that a ref of the repository reaches, or in a rescue, which is a
// ref under refs/swarm/rescue/<name>/<time> that Remove made. Anything that
// can't be inspected, and anything that changes while it is being inspected,
// keeps the worktree. Package inspect has the checks, and package rescue saves.
//
// Ignored directories (dependencies, build output) are the one exception: their contents
// are removed, unless they hold a git repository. Ignored files elsewhere, such as .env,
// are rescued. More than 10 MiB of them keeps the worktree; RemoveOptions.Force
// rescues them whatever their size.
//
// # How it is removed
//
// By "git worktree remove" of the exact recorded path, run in the repository
// that the ref names, under a lock that all swarm processes share (swarm.lock in
// the common git directory, which stays). No file is removed in any other way.
//
// No branch is deleted, with one exception: if a spawn fails, the branch that was created
// for its worktree is deleted, as long as the log of that branch has no other entry and no
// worktree has it checked out. The directory for worktrees is removed too if it was created
// with it and is empty.
//
// A ref is believed only if the repository has a linked worktree at its path
// whose administrative directory carries the worker's id, which Create wrote
// there. A worktree that the user made at the same path is not touched.
//
// # Git
//
// Package git runs it, without hooks and without the variables of the caller. Clean and smudge
// filters of the repository do run, because a checkout is wrong without them; but not those of a
// repository whose configuration others can write, none of those that only the configuration of a
// submodule names, and none for a diff that is shown. A directory that is laid out as a repository,
// without a .git that leads to it, is not used: it may have come with a clone. Git directories are
// examined before git reads them, see package gitdir.
package worktree
