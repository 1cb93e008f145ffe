import tempfile
import unittest

import log


class Log(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def read(self):
        with log.Reader(self.folder) as reader:
            return reader.dropped, [(r.stream, r.data, r.whole) for r in reader.more()]

    def writer(self, limit):
        writer = log.Writer(self.folder, limit)
        self.addCleanup(writer.close)
        return writer

    def test_lines(self):
        writer = self.writer(0)
        writer.write(b"o", b"one\ntw")
        writer.write(b"e", b"\x00\xff\n")
        writer.write(b"o", b"o\n\nend")
        self.assertEqual(self.read(), (0, [
            (b"o", b"one", True), (b"o", b"tw", False), (b"e", b"\x00\xff", True),
            (b"o", b"o", True), (b"o", b"", True), (b"o", b"end", False)]))

    def test_oldest_is_dropped(self):
        writer = self.writer(100)
        seen = []
        with log.Reader(self.folder) as reader:
            for i in range(100):
                writer.write(b"o", b"line %03d\n" % i)
                seen += reader.more()
        self.assertEqual(len(seen), 100)
        dropped, kept = self.read()
        self.assertLessEqual(sum(len(data) + 1 for _, data, _ in kept), 100)
        self.assertEqual(kept[-1][1], b"line 099")
        self.assertEqual(dropped + 9 * len(kept), 900)

    def test_tail(self):
        writer = self.writer(0)
        writer.write(b"o", b"one\ntw")
        writer.write(b"e", b"error\n")
        writer.write(b"o", b"o\nthr")
        with log.Reader(self.folder) as reader:
            records = list(reader.more())
        for lines, stream, want in ((0, b"", []), (1, b"", [b"thr"]), (2, b"", [b"error", b"o", b"thr"]),
                                    (9, b"", [b"one", b"tw", b"error", b"o", b"thr"]),
                                    (1, b"o", [b"thr"]), (0, b"e", [])):
            self.assertEqual([r.data for r in log.tail(records, lines, stream)], want, (lines, stream))


if __name__ == "__main__":
    unittest.main()
