// Package shell is background shells: commands of an agent that go on while it
// does something else, which it looks at, lists and ends by their ids.
//
// A shell is a worker whose record says of which session it is; the package keeps
// nothing of its own. It adds the words that tools use to workers:
// [Start] and [Run] begin a command line, [Next] tells what a shell wrote since it
// was asked last, [Kill] ends one, [List] lists them. A shell of another session is
// never found, and nothing but an id names one.
//
// It is imported by host/tool. It imports host and what is below that, and no
// tool, no command line and no wire.
package shell
