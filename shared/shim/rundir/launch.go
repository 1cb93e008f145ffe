package rundir

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// launchVersion opens a launch file. A shim reads only its own.
const launchVersion = "swarm-launch=1"

// Launch is the content of the launch file.
type Launch struct {
	ID      string
	Command []string
	Dir     string
	Env     []string
	// Terminal says that the shim's own standard streams are a terminal, and
	// that the worker gets a terminal of its own, copied to it. TERM, TMUX and
	// TMUX_PANE are then taken from the shim's environment.
	Terminal bool
	// Stdin says that the worker's standard input is a pipe that the shim keeps open for
	// input; it has no meaning with Terminal.
	Stdin bool
	// Transcript says to write the output to [swarm.TranscriptFile] too. Standard output
	// and error are then one pipe.
	Transcript bool
	// GraceMS, Force and MainOnly are the kill policy for processes that outlive the main
	// process, and for an end without a request. Signal is the first signal after the end
	// of the owner; empty means SIGTERM.
	GraceMS  int64
	Force    bool
	MainOnly bool
	Signal   string
	// OutputLimit is the cap on the log and on the transcript, each, in bytes; 0 is
	// DefaultOutputLimit.
	OutputLimit int64
	// Restart is the restart policy of the worker; the zero value never restarts.
	Restart swarm.Restart
	// Owner is the process at whose end the worker is ended; the zero value means none.
	Owner Identity
	// Limits are what the worker may use. Group is the name of the group in which those of
	// the workers of its state directory are; it is empty only without limits.
	Limits swarm.Limits
	Group  string
	// Wrap is the command line of bubblewrap that makes the sandbox of the worker, without a
	// command; empty: the worker has no sandbox. The options [WrapHide] and [WrapHideSockets] are
	// the shim's.
	Wrap []string
	// Inherit is what the worker inherits besides its environment, if another program has started
	// the shim: words that begin with [InheritUmask], [InheritLimit], [InheritNice] or
	// [InheritScore]. Readers ignore others.
	Inherit []string
	// Capture is the command line of a program that prints the screen of the shim's
	// terminal; empty if there is none. See [ScreenFile].
	Capture []string
}

// WrapHide is an option of [Launch.Wrap]: it hides the file or the directory that its value
// names, if that exists when the worker is started.
const WrapHide = "--hide"

// WrapHideSockets is an option of [Launch.Wrap]: it hides the sockets on which programs listen
// when the worker is started, where the options show them and the worker can't write.
const WrapHideSockets = "--hide-sockets"

// The words of [Launch.Inherit]: a umask in octal digits, a limit with its number, the soft limit and
// the hard one, a nice value, a score for the lack of memory.
const (
	InheritUmask = "umask"
	InheritLimit = "limit"
	InheritNice  = "nice"
	InheritScore = "score"
)

// NoSandbox begins the error of a start for which the sandbox could not be made.
const NoSandbox = "the sandbox can't be made"

var errLaunch = errors.New("damaged launch file")

// launchFields are the fields of a launch file. The optional ones were added later.
var launchFields = []field[Launch]{
	textField("id", func(l *Launch) *string { return &l.ID }),
	textField("dir", func(l *Launch) *string { return &l.Dir }),
	listField("arg", func(l *Launch) *[]string { return &l.Command }),
	listField("env", func(l *Launch) *[]string { return &l.Env }),
	flagField("terminal", func(l *Launch) *bool { return &l.Terminal }),
	numberField("grace", func(l *Launch) *int64 { return &l.GraceMS }, math.MinInt64, math.MaxInt64),
	flagField("force", func(l *Launch) *bool { return &l.Force }),
	flagField("main", func(l *Launch) *bool { return &l.MainOnly }),
	numberField("limit", func(l *Launch) *int64 { return &l.OutputLimit }, math.MinInt64, math.MaxInt64),
	optional("", textField("signal", func(l *Launch) *string { return &l.Signal })),
	optional("0", flagField("stdin", func(l *Launch) *bool { return &l.Stdin })),
	optional("0", flagField("transcript", func(l *Launch) *bool { return &l.Transcript })),
	optional("", parsedField("restart", func(l *Launch) *swarm.Restart { return &l.Restart }, restartText, parseRestart)),
	optional("", parsedField("owner", func(l *Launch) *Identity { return &l.Owner }, ownerText, parseOwner)),
	optional("", parsedField("limits", func(l *Launch) *swarm.Limits { return &l.Limits }, limitsText, parseLimits)),
	optional("", textField("group", func(l *Launch) *string { return &l.Group })),
	listField("wrap", func(l *Launch) *[]string { return &l.Wrap }),
	listField("inherit", func(l *Launch) *[]string { return &l.Inherit }),
	listField("capture", func(l *Launch) *[]string { return &l.Capture }),
}

// EncodeLaunch returns the content of a launch file: entries "key=value", each
// ended by NUL, the last one "end=", without which the file is damaged. It
// refuses a NUL, which no argument and no variable can hold.
func EncodeLaunch(l Launch) ([]byte, error) { return encodeFields(launchVersion, launchFields, &l) }

// DecodeLaunch reads what [EncodeLaunch] wrote. An unknown key is an error: otherwise its
// request would be ignored silently.
func DecodeLaunch(b []byte) (Launch, error) {
	var l Launch
	if !decodeFields(b, launchVersion, launchFields, &l) || len(l.Command) == 0 {
		return Launch{}, errLaunch
	}
	return l, nil
}

func ownerText(id Identity) string {
	if id == (Identity{}) {
		return ""
	}
	return strconv.Itoa(id.PID) + " " + strconv.FormatUint(id.Start, 10) + " " + id.Boot
}

func parseOwner(value string) (id Identity, ok bool) {
	pid, rest, _ := strings.Cut(value, " ")
	start, boot, ok := strings.Cut(rest, " ")
	var err1, err2 error
	id.PID, err1 = strconv.Atoi(pid)
	id.Start, err2 = strconv.ParseUint(start, 10, 64)
	id.Boot = boot
	return id, ok && err1 == nil && err2 == nil
}

// restartText returns a restart policy in the format of the launch file, with times in
// milliseconds; empty if there is none. It applies no defaults.
func restartText(r swarm.Restart) string {
	if r.When == swarm.RestartNo {
		return ""
	}
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	return strings.Join([]string{string(r.When), ms(r.MinDelay), ms(r.MaxDelay), strconv.Itoa(r.Budget), ms(r.Window)}, " ")
}

func parseRestart(value string) (swarm.Restart, bool) {
	words := strings.Split(value, " ")
	if len(words) != 5 {
		return swarm.Restart{}, false
	}
	var n [4]int64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseInt(words[i+1], 10, 64); err != nil || n[i] < 0 || n[i] > maxGraceMS {
			return swarm.Restart{}, false
		}
	}
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	r := swarm.Restart{When: swarm.RestartWhen(words[0]), MinDelay: ms(n[0]), MaxDelay: ms(n[1]), Budget: int(n[2]), Window: ms(n[3])}
	return r, r.When == swarm.RestartOnFailure || r.When == swarm.RestartAlways
}
