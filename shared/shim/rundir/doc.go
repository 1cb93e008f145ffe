// Package rundir is the format of a worker's run directory, which the shim
// ([github.com/swarmhost/swarm/shared/shim/server]) and its clients
// ([github.com/swarmhost/swarm/shared/shim]) share.
//
// docs/shim.md is the same for authors in other languages.
//
// It links neither net, encoding/json nor fmt, because the shim stays in memory
// as long as its worker lives.
//
// # Files
//
//	worker.json   the spec; written by the host, once, before the start
//	journal       a symbolic link to the host's journal, made by the host, see below
//	launch        what the shim needs to start the worker; written by the plugin,
//	              read and removed by the shim, since it holds the environment.
//	              The process that removes it owns the start: nothing starts after
//	              the plugin took the file back. From before it takes the file
//	              until the worker runs, or could not be started, the shim holds
//	              an exclusive flock on the run directory
//	              In a shim that another program starts it also has what the worker
//	              inherits from its caller, such as the umask and the limits
//	ready         a FIFO, made and removed by the plugin; the shim writes one line
//	              into it, see below
//	status.json   see [Status]; written by the shim alone and replaced atomically
//	              whenever the worker was started, completed or ended, waits for
//	              its next start, or lost output
//	status.json.* the next status.json; the space for the last one is reserved when
//	              the worker starts, so that a full disk can't keep an end from
//	              being recorded. A crash of the machine may leave the end, or the
//	              completion, under such a name alone
//	screen        the last screen of the terminal, at most [MaxScreen] bytes, as the
//	              launch file's capture program printed it once the worker had
//	              ended; missing after a hangup. A backend that closes the window
//	              itself writes it then. It exists before status.json says ended
//	ctl.sock      the shim's control socket, see below; it is removed with the shim
//	order         a kill that can't be sent over ctl.sock: its request, as below, with
//	              the id and a newline at its end. The sender links the whole file
//	              in and sends SIGCONT to the shim, which removes it and carries it
//	              out. The process that removes it owns it: an order that the sender
//	              took back, or that is older than [OrderLife], is not carried out
//	output.log    the newest output; output.log.1 is older, and so on up to
//	              [Segments]-1. Each line is in the CRI log format:
//	              "<RFC 3339 time with nanoseconds> <stdout|stderr> <P|F> <text>";
//	              P marks a line that continues in the next record of its stream
//	transcript    if the launch file asks for it: the raw output, each byte at the
//	              offset at which it was written, the oldest part replaced by a
//	              hole. A line that begins with [swarm.TranscriptMark] is the shim's
//	              own, and says what is missing
//
// The shim's working directory is the run directory, and all its paths are
// relative to it, so that the length of the directory's path does not matter.
//
// # Journal
//
// When the worker was started again, was completed or has ended, the shim makes an empty file
// in the host's journal, after status.json records it and before any client is notified. The
// host then reads status.json, records the change, and removes the file. See [JournalEntry]
// for its name. A shim that was killed makes none; the host notices that when it checks the
// worker.
//
// # Ready
//
// The shim writes "ok\n" once status.json says running, or "error <text>\n" when
// the worker could not be started, and then ends. Text is one line for the user,
// such as "command not found: x".
//
// # Control socket
//
// A stream socket. The client sends a request of one line and reads lines of answer
// until end of file. Fields are separated by one space; values contain no spaces. Only
// processes of the same user are answered.
//
//	kill id=a1b2 signal=SIGTERM grace=5000 force=1 mode=tree
//	    "accepted"           at once: the kill is in progress, and continues if the
//	                         client disconnects
//	    then one of
//	    "ended forced=0 already=0 signal=SIGTERM"
//	                         no process is left, and status.json durably says so
//	    "survivors forced=0 signal=SIGTERM 123:sleep 124:npm"
//	                         these are alive after the grace (force=0), or can't
//	                         be ended; the name is the kernel's, with every byte
//	                         but [A-Za-z0-9._-] as '_'
//	    Several kills may be in progress, each with its own grace and force. The
//	    signal of a later one is sent at once; when one of them forces, all end.
//	    With closing=1 as the last field, the client closes the worker's terminal
//	    next and saves its last screen. The signal is sent then, or when the client
//	    sends the line "continue" or disconnects. The grace begins with the request.
//	signal id=a1b2 signal=SIGUSR1 mode=main
//	    "ok", "ended" if no process is left to signal, "busy <text>" between two
//	    starts, or "error <text>"
//	watch id=a1b2
//	    "ok"                 at once: changes are reported from now on
//	    "changed"            whenever status.json has changed
//	    "ended"              as above
//	complete id=a1b2 signal=SIGTERM grace=5000 force=1 mode=tree summary=All%20done
//	    "ok"                 status.json durably says that the worker is done. The
//	                         processes that remain after the grace are killed as by
//	                         a kill with these fields
//	    "late"               it is being ended, has completed or has ended
//	    "busy <text>"        it can't be written, such as on a full disk
//	    The summary is escaped as in a URL: all but [A-Za-z0-9._-] is %XX.
//	input id=a1b2 kind=text enter=1 size=5
//	    The line is followed by size bytes, at most [swarm.MaxInput]. If enter is 1,
//	    Enter is pressed after them, or a newline is written to a pipe. after=200 is
//	    the shortest pause before Enter in milliseconds, at most 5000; the default is
//	    the shim's own. paste=1 gives the text in paste brackets, or answers "busy".
//	    kind=keys sends names of keys instead of text, with enter=0. kind=interrupt
//	    and kind=eof have enter=0 and size=0.
//	    "ok"                 given, and read as far as the shim knows
//	    "pending"            after seconds: given or sure to be given, but not yet read
//	    "ended"              the worker has ended
//	    "busy <text>"        not given: the worker is between two starts, or has
//	                         not read an earlier input. Or not all given: its main
//	                         process ended before it had read everything
//	    "error <text>"       not given: the text can't arrive unchanged
//	limits id=a1b2 limits=2147483648,1500,500,0,0,0
//	    bytes of memory, thousandths of CPUs, processes, the nice value, the I/O weight,
//	    and 1 for the best effort. A figure of 0 sets no limit; "none" instead of the
//	    figures sets no limits at all.
//	    "ok"                 these are the worker's limits
//	    "ended", or "error <text>" for a limit that can't be enforced
//	pause id=a1b2 paused=1
//	    "ok"                 no process of the worker runs, or with paused=0 all
//	                         continue; status.json will say so
//	    "ended", "busy <text>" between two starts, or "error <text>"
//
//	exec id=a1b2 size=70
//	    "ready"              then the client sends size bytes, see [EncodeExec], the first of which
//	                         comes with three descriptors (SCM_RIGHTS): the standard streams of a
//	                         command
//	    "exit 3"             it ran in the worker and has ended with that code, or with 128+n by
//	                         signal n
//	    "ended", "busy <text>" between two starts, during a kill or a pause, or "error <text>"
//	                         for a command that can't be started; [NotFound] begins the text for
//	                         one that does not exist
//	    The command is a child of the shim, or of the first process in the worker's sandbox. When
//	    the client disconnects, the command and what it has started get SIGTERM, and SIGKILL
//	    after the grace of the worker.
//
// A shim that serves as many clients as it can answers "busy <text>", or nothing at all
// to a watch. Some slots are reserved for kills.
//
// id is the id of the intended worker, and may be left out. A shim of another worker
// answers "stale" and does nothing.
//
// grace is in milliseconds. Anything else is answered "error <text>", and the text of a request
// that the shim does not understand ends with "; this shim speaks protocol <number>". End of file
// without an answer means that the shim has ended: read status.json.
package rundir
