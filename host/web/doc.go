// Package web serves the workers of a host to the browser of one person: pages that are
// made from templates, and streams of server-sent events that keep them current. `swarm web`
// starts it through the program swarm-serve, the only importer.
//
// All facts come from the public functions of a [host.Host], and the words for them from
// host/condition, as in tables and in the terminal. The package decides only how they look.
//
// # What it defends against
//
// A page of another site, in the same browser, must neither read nor change anything; nor
// must another user of the machine; nor may the text of a worker become part of a page. So:
//
//   - Nothing is answered without the session cookie, which is given in exchange for the
//     random token of the address that was printed ([Server.Address]).
//   - The Host header has to name the address itself, which stops DNS rebinding.
//   - What changes anything is a POST whose Origin is that of the page; any request that the
//     browser says comes from another site is refused, other ports of this machine included.
//   - A strict Content-Security-Policy: one script and one style sheet of our own, nothing
//     inline, no frames.
//   - Text of others passes shared/safetext, then html/template; output with colours passes
//     paint, which writes classes of the style sheet.
//   - Headers, bodies, connections and streams are bounded, and a client that reads slowly
//     loses its stream, not the worker's output.
package web
