// Package shell runs background shells: commands of an agent that continue while it does
// other work, and that it reads, lists and ends by their ids.
//
// A shell is a worker whose record names its session; the package stores nothing of its
// own. It adds the operations of tools to workers: [Start] and [Run] start a command line,
// [Next] returns the output since the last call, [Kill] ends a shell, [List] lists them. A
// shell of another session is never found, and only an id names one.
//
// It is imported by host/tool. It imports host and what is below that, and knows neither
// tools nor command lines nor protocols.
package shell
