package plugin

// Serve serves the plugin until its host is gone. It is called from main, as the
// last thing that main does and before anything is written to stdout.
//
// Serve takes care of what an author can't see: it leaves within milliseconds
// when the host was killed, removes its socket, turns a panic of a call into the
// error of that call, answers for many workers at once, and keeps stdout and the
// plugin's own environment variables out of the way. When the host leaves, the
// contexts of the calls under way end; what has not returned shortly after is cut
// off.
func Serve(o Options) { serve(o) }
