// Package confine starts programs that can write in some directories and nowhere else,
// whatever a path leads to: symbolic links may appear after the caller has looked for them.
//
// It is imported by the packages of plugins/worktree alone.
package confine

// Dir is a directory in which a program may write, with all that is below it.
type Dir struct {
	Path string
	// EmptyDirs says that it may remove empty directories there, and nothing else.
	EmptyDirs bool
}
