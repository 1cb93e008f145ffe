import unittest

from backend import Backend
from errors import Failure
from swarm.plugin.v1 import backend_pb2


class Priority(unittest.TestCase):
    def test_settings(self):
        self.assertEqual(Backend({}, "").nice, 10)
        self.assertEqual(Backend({"nice": 0}, "").nice, 0)
        for settings in ({"nice": 20}, {"nice": "low"}, {"nise": 5}):
            with self.assertRaises(Failure, msg=settings) as caught:
                Backend(settings, "")
            self.assertEqual(caught.exception.reason, "INVALID_CONFIG")

    def test_options(self):
        backend = Backend({"nice": 5}, "")
        self.assertEqual(backend.priority_of(backend_pb2.SpawnRequest()), 5)
        self.assertEqual(backend.priority_of(backend_pb2.SpawnRequest(options={"nice": "7"})), 7)
        for options in ({"nice": "20"}, {"nice": "low"}, {"nise": "5"}):
            with self.assertRaises(Failure, msg=options) as caught:
                backend.priority_of(backend_pb2.SpawnRequest(options=options))
            self.assertEqual(caught.exception.reason, "INVALID_SPEC")


if __name__ == "__main__":
    unittest.main()
