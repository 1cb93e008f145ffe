// Written by 'swarm integrate opencode', which 'swarm integrate opencode --remove' undoes.
// It reports to swarm what opencode does, and to opencode what waits for it. It does nothing
// outside of swarm's workers, and never fails.
import { spawn } from "node:child_process"

const swarm = "swarm"

// hook calls swarm and returns the text that it has for the agent, if there is one.
const hook = (event, sessionID, more) =>
  new Promise((resolve) => {
    let out = ""
    const child = spawn(swarm, ["hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill("SIGKILL"), 5000)
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (out += data))
    child.on("close", () => {
      clearTimeout(timer)
      try {
        const answer = JSON.parse(out)
        resolve(answer.reason ?? answer.hookSpecificOutput?.additionalContext)
      } catch {
        resolve()
      }
    })
    child.stdin.end(JSON.stringify({ session_id: sessionID, ...more }))
  }).catch(() => {})

export const Swarm = async ({ client }) => {
  if (!process.env.SWARM_WORKER) return {}
  // Sessions of agents that another one started are a part of its work.
  const parts = new Set()
  // A question has only patterns made of the input of the tool call that it is about.
  const calls = new Map()
  // A turn that failed is reported once more as one that has ended.
  const failed = new Set()
  return {
    event: async ({ event }) => {
      const p = event.properties ?? {}
      const id = p.sessionID ?? p.info?.id
      if (event.type === "session.created" || event.type === "session.updated") {
        if (p.info?.parentID) parts.add(p.info.id)
        else if (event.type === "session.created") await hook("SessionStart", id)
      }
      if (!id || parts.has(id)) return
      if (event.type === "permission.asked") {
        const call = calls.get(p.tool?.callID)
        const input = call?.tool === p.permission ? call.args : { description: [].concat(p.patterns ?? []).join(" ") }
        await hook("PermissionRequest", id, { tool_name: p.permission, tool_input: input })
      }
      if (event.type === "permission.replied") await hook("PreToolUse", id)
      if (event.type === "session.compacted") await hook("PostCompact", id)
      if (event.type === "session.error" && p.error && p.error.name !== "MessageAbortedError") {
        const limited = p.error.data?.statusCode === 429
        failed.add(id)
        await hook("StopFailure", id, {
          error: limited ? "rate_limit" : p.error.name,
          last_assistant_message: p.error.data?.message ?? p.error.name,
        })
      }
      if (event.type === "session.idle") calls.clear()
      if (event.type === "session.idle" && !failed.delete(id)) {
        const text = await hook("Stop", id)
        if (text) await client.session.prompt({ path: { id }, body: { parts: [{ type: "text", text }] } })
      }
    },
    "chat.message": async (input, output) => {
      if (parts.has(input.sessionID)) return
      failed.delete(input.sessionID)
      const text = await hook("UserPromptSubmit", input.sessionID)
      const part = output.parts.findLast((part) => part.type === "text")
      if (text && part) part.text += "\n\n" + text
    },
    "experimental.session.compacting": async (input) => {
      if (!parts.has(input.sessionID)) await hook("PreCompact", input.sessionID)
    },
    "tool.execute.before": async (input, output) => {
      if (parts.has(input.sessionID)) return
      calls.set(input.callID, { tool: input.tool, args: output.args })
      await hook("PreToolUse", input.sessionID)
    },
    "tool.execute.after": async (input, output) => {
      if (parts.has(input.sessionID)) return
      calls.delete(input.callID)
      const text = await hook("PostToolUse", input.sessionID)
      if (text) output.output += "\n\n" + text
    },
  }
}
