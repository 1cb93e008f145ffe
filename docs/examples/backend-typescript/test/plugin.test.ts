import assert from "node:assert/strict";
import { test } from "node:test";

import { makeBackend, priorityOf } from "../src/backend.js";
import { Failure } from "../src/errors.js";

const because = (reason: string) => (error: unknown) => error instanceof Failure && error.reasons[0] === reason;

test("settings", () => {
  makeBackend({}, "");
  makeBackend({ nice: 0 }, "");
  for (const given of [{ nice: 20 }, { nice: "low" }, { nise: 5 }]) {
    assert.throws(() => makeBackend(given, ""), because("INVALID_CONFIG"));
  }
});

test("options", () => {
  assert.equal(priorityOf({ options: {} }, 5), 5);
  assert.equal(priorityOf({ options: { nice: "7" } }, 5), 7);
  const wrong: Record<string, string>[] = [{ nice: "20" }, { nice: "" }, { nise: "5" }];
  for (const options of wrong) {
    assert.throws(() => priorityOf({ options }, 5), because("INVALID_SPEC"));
  }
});
