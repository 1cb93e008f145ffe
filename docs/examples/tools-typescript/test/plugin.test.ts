import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Failure } from "../src/errors.js";
import { bytes } from "../src/serve.js";
import { callTool, makeTools } from "../src/tools.js";

const because = (reason: string) => (error: unknown) => error instanceof Failure && error.reasons[0] === reason;

test("settings", () => {
  makeTools({});
  for (const given of [{ file: 5 }, { fil: "notes" }]) assert.throws(() => makeTools(given), because("INVALID_CONFIG"));
});

test("notes", () => {
  const file = join(mkdtempSync(join(tmpdir(), "notes-")), "notes");
  const call = (name: string, input: object) => callTool(file, { name, input: bytes(input) });
  assert.deepEqual(call("search", {}), { notes: [] });
  call("add", { text: "buy milk" });
  call("add", { text: "buy tea" });
  assert.deepEqual(call("search", { text: "milk" }), { notes: ["a person: buy milk"] });
  assert.throws(() => call("burn", {}), because("NOT_FOUND"));
});
