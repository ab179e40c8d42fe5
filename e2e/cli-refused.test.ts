import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, jsonLines, newFolder } from "./cli.ts";
import { expectRefused, type Refused } from "./expect-refused.ts";

const approved = '{"approved":true}';
const one = { id: "one", nodes: [{ id: "ask", type: "approval" }], edges: [] };
const workflows: Readonly<Record<string, object>> = {
  paused: one,
  ended: one,
  both: {
    id: "both",
    nodes: ["s", "a", "b"].map((id) => ({ id, type: id === "s" ? "noop" : "approval" })),
    edges: ["a", "b"].map((target) => ({ source: "s", target })),
  },
  items: { id: "items", nodes: [{ id: "each", type: "map", data: { workflow: "one", items: [1, 2] } }], edges: [], workflows: { one } },
  vote: { id: "vote", nodes: [{ id: "ask", type: "approval", data: { responders: ["ada", "bob"], quorum: 2 } }], edges: [] },
  voted: { id: "vote", nodes: [{ id: "ask", type: "approval", data: { responders: ["ada", "bob"], quorum: 2 } }], edges: [] },
  paid: { id: "paid", nodes: [{ id: "paid", type: "signal", data: { name: "paid", key: "k", schema: { type: "number" } } }], edges: [] },
};

const cases: readonly Refused[] = [
  [["resume", "items", "--step", "each[9]/ask", "--payload", approved], "WAIT_GONE", "each[9]/ask", /resume items --step 'each\[0\]\/ask'/],
  [["resume", "items", "--step", "each[x]/ask"], "WAIT_GONE", "each[x]/ask"],
  [["resume", "items", "--step", "each[0]/nope"], "WAIT_GONE", "each[0]/nope"],
  [["resume", "items", "--step", "ask", "--payload", approved], "RESUME_AMBIGUOUS", "each[0]/ask", "each[1]/ask"],
  [["resume", "paused", "--step", "__proto__"], "NODE_UNKNOWN", "__proto__", /resume paused --payload/],
  [["resume", "paused", "--step", ""], "NODE_UNKNOWN", '""'],
  [["resume", "paused", "--payload", "@nope.json"], "FILE_NOT_FOUND", "nope.json"],
  [["resume", "paused", "--payload", "-"], "JSON_INVALID", "standard input:1:1", "ends too early"],
  [["resume", "vote", "--payload", approved, "--by", "zoe"], "RESPONDER_DENIED", "zoe", "ada, bob", /resume vote --payload .* --by ada/],
  [["resume", "vote", "--payload", approved], "RESPONDER_DENIED", "--by", /resume vote --payload .* --by ada/],
  [["resume", "voted", "--payload", '{"approved":false}', "--by", "ada"], "RESPONDER_DENIED", "already has an answer", /--by bob/],
  [["resume", "ended", "--payload", approved, "--step", "other"], "EXECUTION_ENDED", "completed", "stepfold show ended"],
  [["signal", "paused"], "USAGE", "missing required argument 'name'"],
  [["signal", "nope", "paid"], "WORKFLOW_NOT_FOUND", '"nope"'],
  [["signal", "paused", ""], "OPTION_INVALID", '"name"'],
  [["signal", "paused", "paid", "--payload", "{"], "JSON_INVALID", "--payload:1:2"],
  [["signal", "paused", "paid", "--ttl", "soon"], "USAGE", '"soon"', "1h30m"],
  [["signal", "paid", "paid", "--key", "k", "--payload", '"much"'], "PAYLOAD_INVALID", "number", /signal paid paid --key k --payload 1/],
  [["signal", "ended", "paid"], "EXECUTION_ENDED", "completed"],
  [["cancel", "nope"], "WORKFLOW_NOT_FOUND", '"nope"'],
  [["cancel", "ended"], "EXECUTION_ENDED", "completed"],
  [["cancel", "items", "each[0]"], "USAGE", "too many arguments"],
  [["cancel", "items", "--step", "each[9]"], "WAIT_GONE", "each[9]", "It stands at: each, each[0]/ask, each[1]/ask"],
  [["cancel", "items", "--step", "nope"], "WAIT_GONE", "nope", "stepfold show items"],
  [["cancel", "items", "--step", "ask"], "RESUME_AMBIGUOUS", /--step 'each\[0\]\/ask'/],
  [["retry", "paused"], "RETRY_NOT_PENDING", '"paused"', "stepfold show paused"],
  [["retry", "paused", "--step", "nope"], "RETRY_NOT_PENDING", 'at "nope"'],
  [["retry", "ended"], "EXECUTION_ENDED", "completed"],
];

describe("a command that is refused", () => {
  it("says what is wrong and what to do, with exit code 2, and has changed nothing", async () => {
    const cwd = newFolder();
    for (const [id, workflow] of Object.entries(workflows)) {
      writeFileSync(join(cwd, `${id}.json`), JSON.stringify(workflow));
      await cli(["run", `${id}.json`, "--id", id], { cwd });
    }
    await cli(["resume", "ended", "--payload", approved], { cwd });
    await cli(["resume", "voted", "--payload", approved, "--by", "ada"], { cwd });
    // the list shows ids, versions and times of the last change, so equal lists mean that nothing was changed
    const before = (await cli(["ls", "--json"], { cwd })).stdout;
    expect(jsonLines(before)).toMatchObject([{ items: { length: Object.keys(workflows).length } }]);

    await expectRefused(cases, cwd);

    expect((await cli(["ls", "--json"], { cwd })).stdout).toBe(before);
  });
});
