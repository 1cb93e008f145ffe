package backendtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func transcriptCases() []testCase {
	return []testCase{
		newCase("transcript-is-complete", scope{needs: swarm.CapTranscript, local: true},
			"a transcript holds everything that the worker wrote and nothing else, in a file of mode 0600",
			func(k *kit) {
				w := k.transcribed(script.Lines, 0)
				k.wantLines(strings.Split(string(w.transcript()), "\n"), allLines())
				info, err := os.Stat(w.transcriptFile())
				if err != nil || info.Mode().Perm() != 0o600 {
					k.Broken("the file is %v, error %v", info.Mode(), err)
				}
			}),
		newCase("transcript-is-in-order", scope{needs: swarm.CapTranscript, local: true},
			"standard output and error are one stream, Stdout, in the order in which they were written",
			func(k *kit) {
				w := k.transcribed(script.Mixed, 0)
				want := append(allLines()[:100], "")
				k.wantLines(strings.Split(string(w.transcript()), "\n"), want)
				if k.has(swarm.CapOutput) {
					k.wantLines(w.output(swarm.OutputOptions{Stream: swarm.Stdout}), want[:100])
				}
			}),
		newCase("transcript-keeps-the-newest", scope{needs: swarm.CapTranscript, local: true},
			"a transcript keeps at most the newest Spec.OutputLimit bytes, each where it was written",
			func(k *kit) {
				const most = 4 << 10
				whole := k.transcribed(script.Lines, 0).read()
				got := k.transcribed(script.Lines, most).read()
				if bytes.Contains(got, []byte(swarm.TranscriptMark)) {
					return // this file system has no holes
				}
				kept := bytes.TrimLeft(got, "\x00")
				if len(got) != len(whole) || len(kept) > most || !bytes.HasSuffix(whole, kept) || len(kept) == 0 {
					k.Broken("%[2]d of %[1]d bytes are kept, and the file has %[3]d", len(whole), len(kept), len(got))
				}
			}),
		newCase("transcript-is-asked-for", scope{needs: swarm.CapTranscript, local: true},
			"a worker whose spec asks for no transcript has none",
			func(k *kit) {
				w := k.finished(script.Lines)
				if _, err := os.Lstat(w.transcriptFile()); err == nil {
					k.Broken("a transcript exists")
				}
			}),
	}
}

// transcribed runs a worker with a transcript to its end.
func (k *kit) transcribed(s script.Script, limit int64) *worker {
	k.Helper()
	w := k.newSpec(s)
	w.spec.Transcript, w.spec.OutputLimit = true, limit
	w.start()
	w.ended()
	return w
}

// transcript returns the content of the transcript. A terminal may have put a carriage
// return at the ends of lines.
func (w *worker) transcript() []byte {
	w.Helper()
	return bytes.ReplaceAll(w.read(), []byte("\r\n"), []byte("\n"))
}

func (w *worker) read() []byte {
	w.Helper()
	b, err := os.ReadFile(w.transcriptFile())
	w.Must("read the transcript", err)
	return b
}

func (w *worker) transcriptFile() string {
	return filepath.Join(w.spec.Local.RunDir, swarm.TranscriptFile)
}
