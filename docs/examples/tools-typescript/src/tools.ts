// The service Tools: people and agents write notes and find them again. Make it your own: the tools are the table below,
// what they do is callTool.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { create } from "@bufbuild/protobuf";

import { CallToolResponseSchema, ListToolsResponseSchema, type CallToolRequest } from "../gen/swarm/plugin/v1/tools_pb.js";
import { Failure } from "./errors.js";
import { bytes, type Served } from "./serve.js";

const tools = [
  {
    name: "search", title: "Search notes", description: "Return the notes that contain a text, the oldest first. Without a text: all notes.",
    inputSchema: bytes({ type: "object", properties: { text: { type: "string" } }, additionalProperties: false }),
    outputSchema: bytes({ type: "object", properties: { notes: { type: "array", items: { type: "string" } } }, required: ["notes"] }),
    readOnly: true, right: "anyone",
  },
  {
    name: "add", title: "Add a note", description: "Write down a note for everyone, one line. The author is added.",
    inputSchema: bytes({ type: "object", properties: { text: { type: "string", pattern: "^[^\\n]+$" } }, required: ["text"], additionalProperties: false }),
    right: "member", // a person, and the agents of teams
  },
];

// What users can set: the table [plugins.notes.config] of their config.
export const settings = {
  type: "object",
  properties: { file: { type: "string", description: "Where the notes are; without it: ~/.notes." } },
};

/** The tools remember nothing but the file: each call may come to another process. */
export function makeTools(given: Record<string, unknown>): Served {
  const unknown = Object.keys(given).find((key) => key !== "file");
  if (unknown !== undefined) throw new Failure(["INVALID_CONFIG"], `unknown setting '${unknown}'; there is: file`);
  const file = given["file"] ?? join(homedir(), ".notes");
  if (typeof file !== "string") throw new Failure(["INVALID_CONFIG"], "file: expected a path");
  return {
    capabilities: [],
    calls: {
      async *listTools() {
        yield create(ListToolsResponseSchema, { tools });
      },
      async *callTool(request: CallToolRequest) {
        yield create(CallToolResponseSchema, { answer: bytes(callTool(file, request)) });
      },
    },
  };
}

/** Is called with input that fits the schema, by a caller that has the tool's right. */
export function callTool(file: string, { name, input, caller }: Pick<CallToolRequest, "name" | "input" | "caller">): object {
  const { text = "" } = JSON.parse(Buffer.from(input).toString());
  switch (name) {
    case "search": {
      const all = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
      return { notes: all.filter((note) => note !== "" && note.includes(text)) };
    }
    case "add":
      appendFileSync(file, `${caller?.worker || "a person"}: ${text}\n`, { mode: 0o600 });
      return {};
  }
  throw new Failure(["NOT_FOUND"], `there is no tool '${name}'`);
}
