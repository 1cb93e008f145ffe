"""The output of a worker: two files, of which the older one is dropped when the newer
one is full. A record is one line:

    1732212312.123456 o . text of a line
    ^ when            ^ stdout or stderr
                        ^ '.' ends the line, '+' does not

The first line of a file says how many bytes of output came before it.
"""

import os
import time

CURRENT, OLDER = "output.log", "output.log.1"
DEFAULT_LIMIT = 8 << 20


class Writer:
    def __init__(self, directory, limit):
        self.directory, self.half = directory, max(1, (limit or DEFAULT_LIMIT) // 2)
        self.total = 0  # bytes of output
        self.open()

    def open(self):
        path = os.path.join(self.directory, CURRENT)
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.size = 0
        os.write(self.fd, b"%d\n" % self.total)

    def write(self, stream, data):
        """Writes what one read returned. The rest of a line comes with the next."""
        *lines, rest = data.split(b"\n")
        records = [(line, b".") for line in lines] + ([(rest, b"+")] if rest else [])
        now = b"%.6f" % time.time()
        self.rotate(len(data))
        os.write(self.fd, b"".join(b"%s %s %s %s\n" % (now, stream, end, line) for line, end in records))
        self.size += len(data)
        self.total += len(data)

    def rotate(self, more):
        if self.size and self.size + more > self.half:
            os.close(self.fd)
            os.replace(os.path.join(self.directory, CURRENT), os.path.join(self.directory, OLDER))
            self.open()

    def close(self):
        os.fsync(self.fd)
        os.close(self.fd)


class Record:
    def __init__(self, line):
        when, stream, end, self.data = line.split(b" ", 3)
        self.time, self.stream, self.whole = float(when), stream, end == b"."


class Reader:
    """Reads what is there, and later what has been added."""

    def __init__(self, directory):
        self.directory = directory
        current = self.open(CURRENT)  # first: it may become the older one now
        older = self.open(OLDER)
        if older and current and os.path.samestat(os.fstat(older.fileno()), os.fstat(current.fileno())):
            older.close()
            current, older = self.open(CURRENT), current
        self.files = [file for file in (older, current) if file]
        self.dropped = int(self.files[0].readline() or 0) if self.files else 0
        for file in self.files[1:]:
            file.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for file in self.files:
            file.close()

    def open(self, name):
        try:
            return open(os.path.join(self.directory, name), "rb")
        except FileNotFoundError:
            return None

    def more(self):
        """The records since the last call."""
        while self.files:
            yield from self.rest(self.files[0])
            if len(self.files) == 1:
                if not self.rotated(self.files[0]):
                    return
                yield from self.rest(self.files[0])  # what was written in the meantime
            self.files.pop(0).close()

    def rest(self, file):
        while (line := file.readline()).endswith(b"\n"):
            yield Record(line[:-1])
        file.seek(-len(line), os.SEEK_CUR)  # it is being written

    def rotated(self, file):
        """Continues with the next file, if there is one by now."""
        following = self.open(CURRENT)
        if not following:
            return False
        if os.path.samestat(os.fstat(following.fileno()), os.fstat(file.fileno())):
            following.close()
            return False
        self.files.append(following)
        following.readline()
        return True


def tail(records, lines, stream):
    """The records of the last lines of a list, counted over the chosen stream. A line
    begins where the one before it on its stream has ended."""
    begins, open_lines = [], set()
    for i, record in enumerate(records):
        if stream and record.stream != stream:
            continue
        if record.stream not in open_lines:
            begins.append(i)
        (open_lines.discard if record.whole else open_lines.add)(record.stream)
    if lines >= len(begins):
        return records
    return records[begins[-lines]:] if lines else []
