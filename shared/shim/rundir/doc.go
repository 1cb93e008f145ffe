// Package rundir is the format of a worker's run directory: the one thing that
// the shim ([github.com/swarmhost/swarm/shared/shim/keeper]) and those who talk
// to it ([github.com/swarmhost/swarm/shared/shim]) have in common.
//
// It links neither net, encoding/json nor fmt, because the shim stays in memory
// as long as its worker lives.
//
// # Files
//
//	worker.json   what was asked for; written by the host, once, before the start
//	launch        what the shim needs to start the worker; written by the plugin,
//	              read and removed by the shim, since it holds the environment.
//	              Who removes it has it: taken back, it starts nothing. From before
//	              it takes the file until the worker runs, or could not be
//	              started, the shim holds an exclusive flock on the run directory
//	ready         a FIFO, made and removed by the plugin; the shim writes one line
//	              into it, see below
//	status.json   see [Status]; written by the shim alone, replaced atomically:
//	              once when the worker started, once when it ended, and whenever
//	              output was dropped
//	status.json.* what becomes status.json; the room for the last one is taken when
//	              the worker starts, so that a full disk can't keep an end from
//	              being recorded
//	ctl.sock      the shim's control socket, see below; it goes with the shim
//	output.log    the newest output; output.log.1 is older, and so on up to
//	              [Segments]-1. Each line is in the CRI log format:
//	              "<RFC 3339 time with nanoseconds> <stdout|stderr> <P|F> <text>";
//	              P is a line that goes on in the next record of its stream
//
// The shim's working directory is the run directory, and all its paths are
// relative to it, so that the length of the directory's path does not matter.
//
// # Ready
//
// The shim writes "ok\n" once status.json says running, or "error <text>\n" when
// the worker could not be started, after which it leaves. Text is one line for
// the user, such as "command not found: x".
//
// # Control socket
//
// A stream socket. The client sends one request of one line and reads lines of
// answer until end of file. Fields are separated by one space, values hold no
// space. Only processes of the same user are answered.
//
//	kill id=a1b2 signal=SIGTERM grace=5000 force=1 mode=tree
//	    "accepted"           at once: the kill is under way, and will go on if the
//	                         client leaves
//	    then one of
//	    "ended forced=0 already=0 signal=SIGTERM"
//	                         nothing is left, and status.json says so durably
//	    "survivors forced=0 signal=SIGTERM 123:sleep 124:npm"
//	                         these are alive after the grace (force=0), or can't
//	                         be ended; the name is the kernel's, with every byte
//	                         but [A-Za-z0-9._-] as '_'
//	    Several kills may be under way. Each has its own grace and force; a
//	    signal of a later one is sent at once; when one of them forces, all end.
//	signal id=a1b2 signal=SIGUSR1 mode=main
//	    "ok" or "error <text>"
//	wait id=a1b2
//	    "ended"              as above
//
// id is the worker's that is meant, and may be left out. A shim that keeps another
// worker answers "stale" and does nothing.
//
// grace is in milliseconds. Anything else is answered "error <text>". End of
// file without an answer means that the shim is gone: look at status.json.
package rundir
