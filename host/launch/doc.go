// Package launch starts plugins and ends them. Each is a process of its own that
// lives as long as the [Set] it belongs to.
//
// This package closes the gaps that go-plugin leaves:
//
//   - A plugin notices the death of its host by a pipe whose write end only the
//     host has, however the host died.
//   - It gets the caller's environment without the variables of other go-plugin
//     hosts, no standard input, none of the terminal's signals, and a private
//     directory for its socket, which goes with it.
//   - Ending it takes a bounded time: it is killed, since plugins hold no state,
//     and asked first only if a call was given up that it may still be undoing.
//     Processes that inherited its standard error hold up nothing. It is waited for
//     as a child must be, while other things are done.
//   - A plugin that died is started again by the next call, and so is one whose
//     start failed, after a pause that grows with every failure.
//   - The error of a failed start names the plugin and the reason, in one line.
//
// The package is imported by host. It is the only one of the host that imports
// go-plugin.
package launch
