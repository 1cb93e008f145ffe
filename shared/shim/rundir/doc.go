// Package rundir is the format of a worker's run directory: the one thing that
// the shim ([github.com/swarmhost/swarm/shared/shim/server]) and those who talk
// to it ([github.com/swarmhost/swarm/shared/shim]) have in common.
//
// It links neither net, encoding/json nor fmt, because the shim stays in memory
// as long as its worker lives.
//
// # Files
//
//	worker.json   what was asked for; written by the host, once, before the start
//	journal       a symbolic link to the host's journal, made by the host, see below
//	launch        what the shim needs to start the worker; written by the plugin,
//	              read and removed by the shim, since it holds the environment.
//	              The process that removes it owns the start: nothing starts after
//	              the plugin took the file back. From before it takes the file
//	              until the worker runs, or could not be started, the shim holds
//	              an exclusive flock on the run directory
//	ready         a FIFO, made and removed by the plugin; the shim writes one line
//	              into it, see below
//	status.json   see [Status]; written by the shim alone, replaced atomically:
//	              whenever the worker was started, completed or ended, waits for
//	              its next start, or lost output
//	status.json.* what becomes status.json; the room for the last one is taken when
//	              the worker starts, so that a full disk can't keep an end from
//	              being recorded
//	screen        what the terminal showed last, as the launch file's capture program
//	              printed it once the worker had ended, at most [MaxScreen]; not
//	              there after a hangup. A backend that closes the window itself
//	              writes it then. It is there before status.json says ended
//	ctl.sock      the shim's control socket, see below; it goes with the shim
//	order         a kill that can't be sent over ctl.sock: its request, as below, with
//	              the id and a newline at its end. The sender links it in whole and
//	              sends SIGCONT to the shim, which removes it and carries it out.
//	              The process that removes it owns it: an order that the sender
//	              took back, or that is older than [OrderLife], is not carried out
//	output.log    the newest output; output.log.1 is older, and so on up to
//	              [Segments]-1. Each line is in the CRI log format:
//	              "<RFC 3339 time with nanoseconds> <stdout|stderr> <P|F> <text>";
//	              P is a line that goes on in the next record of its stream
//	transcript    if the launch file says so: the output as it came, each byte at
//	              the offset at which it was written, the oldest dropped as a hole.
//	              A line that begins with [swarm.TranscriptMark] is the shim's own, and
//	              says what is missing
//
// The shim's working directory is the run directory, and all its paths are
// relative to it, so that the length of the directory's path does not matter.
//
// # Journal
//
// When the worker was started again, was completed or has ended, the shim makes an
// empty file in the host's journal, after status.json says so and before it tells
// anybody else. The host then reads status.json, records what is new, and removes the
// file. See [JournalEntry] for its name. A shim that was killed makes none; the host
// finds that when it looks for it.
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
//	    With closing=1 as the last field, whoever asks closes the worker's
//	    terminal next, and keeps its last screen. The signal is sent then, or
//	    when the client says "go on" (a line) or leaves. The grace is counted from
//	    the request on.
//	signal id=a1b2 signal=SIGUSR1 mode=main
//	    "ok", "ended" if there is nobody to signal any more, "busy <text>" between
//	    two starts, or "error <text>"
//	watch id=a1b2
//	    "ok"                 at once: what happens from now on is told
//	    "changed"            as often as there is news in status.json
//	    "ended"              as above
//	complete id=a1b2 signal=SIGTERM grace=5000 force=1 mode=tree summary=All%20done
//	    "ok"                 status.json says durably that the worker is done. The
//	                         processes that are left after the grace are killed as
//	                         by the kill with these fields
//	    "late"               it is being ended, has completed or has ended
//	    "busy <text>"        it can't be written, such as on a full disk
//	    The summary is escaped as in a URL: all but [A-Za-z0-9._-] is %XX.
//	input id=a1b2 kind=text enter=1 size=5
//	    The line is followed by size bytes, at most [swarm.MaxInput]; after them Enter is
//	    pressed, or a newline given, if enter is 1. after=200 is the shortest pause
//	    before Enter in milliseconds, at most 5000; without it the shim takes its
//	    own. paste=1 gives the text in paste brackets or not at all, which is "busy"
//	    then. kind=keys has the names of keys in place of the text, and enter=0.
//	    kind=interrupt and kind=eof have enter=0 and size=0.
//	    "ok"                 given, and read as far as that can be seen
//	    "pending"            given or sure to be, and not read yet; after seconds
//	    "ended"              the worker has ended
//	    "busy <text>"        not given: the worker is between two starts, or has
//	                         not read an earlier input. Or not all given: its main
//	                         process ended before it had read that
//	    "error <text>"       not given: the text can't arrive as it is
//
//	limits id=a1b2 limits=2147483648,1500,500,0,0,0
//	    bytes of memory, thousandths of CPUs, processes, the nice value, the I/O weight;
//	    the last number is 1 for the best effort. A figure of 0
//	    sets no limit, and "none" in place of the figures sets no limits.
//	    "ok"                 these are the worker's limits
//	    "ended", or "error <text>" for a limit that can't be enforced
//	pause id=a1b2 paused=1
//	    "ok"                 no process of the worker runs, or with paused=0 all go on;
//	                         status.json will say so
//	    "ended", "busy <text>" between two starts, or "error <text>"
//
// A shim that serves as many clients as it can answers "busy <text>", or to a
// watch nothing at all. Some places are kept for kills.
//
// id is the worker's that is meant, and may be left out. A shim that keeps another
// worker answers "stale" and does nothing.
//
// grace is in milliseconds. Anything else is answered "error <text>". End of
// file without an answer means that the shim is gone: look at status.json.
package rundir
