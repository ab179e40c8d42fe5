import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, type Ended, jsonLines, newFolder } from "./cli.ts";

const config = `let calls = 0;
export default {
  nodeDefinitions: { flaky: {
    retryPolicy: { maxAttempts: 3, interval: "1 h", backoff: "fixed" },
    executor: (data, step) => { if (step.attempt < 2) throw new Error("The line is busy"); return { data: step.attempt }; },
  } },
  workflows: [
    { id: "pay", nodes: [{ id: "charge", type: "set", data: 1, compensate: { type: "set", data: "refunded" } }, { id: "approve", type: "approval" }],
      edges: [{ source: "charge", target: "approve" }] },
    { id: "call", nodes: [{ id: "try", type: "flaky" }], edges: [] },
  ],
};`;
const files: Readonly<Record<string, object>> = {
  "order.json": {
    id: "order",
    nodes: [
      { id: "book", type: "set", data: { ref: 7 }, compensate: { type: "set", data: "{{ $json.ref }}" } },
      { id: "bill", type: "workflow", data: { workflow: "pay" } },
    ],
    edges: [{ source: "book", target: "bill" }],
  },
  "calls.json": {
    id: "calls",
    nodes: [
      { id: "go", type: "noop" },
      { id: "each", type: "map", data: { workflow: "call", items: [1, 2] } },
      { id: "ask", type: "approval" },
    ],
    edges: [
      { source: "go", target: "each" },
      { source: "go", target: "ask" },
    ],
  },
  "wait.json": {
    id: "wait",
    nodes: [
      { id: "ask", type: "approval" },
      { id: "paid", type: "signal", data: { name: "paid" } },
    ],
    edges: [{ source: "ask", target: "paid", sourceHandle: "approved" }],
  },
};

function folder(): (...args: string[]) => Promise<Ended> {
  const cwd = newFolder();
  writeFileSync(join(cwd, "stepfold.config.mjs"), config);
  for (const [name, workflow] of Object.entries(files)) writeFileSync(join(cwd, name), JSON.stringify(workflow));
  return (...args) => cli(args, { cwd });
}

describe("workflows that name those of the config", () => {
  it("are checked, run and resumed with them", async () => {
    const say = folder();
    expect((await say("validate", "order.json")).stdout).toBe("✔ order.json can run: order, 2 nodes, 1 edge\n");
    expect((await say("validate", "pay")).stdout).toBe("✔ pay can run: pay, 2 nodes, 1 edge\n");
    const run = await say("run", "order.json", "--id", "o");
    expect(run.stdout).toContain("⏸ o is paused: bill/approve waits for an answer.\n");
    expect(await say("run", "order.json", "--id", "o")).toMatchObject({ code: 0, stderr: "" });
    const resumed = await say("resume", "o", "--step", "bill/approve", "--payload", '{"approved":true}');
    expect(resumed.stdout).toMatch(/✔ bill\/approve .*\n✔ bill\n\n✔ o completed/);
  });
});

describe("cancel", () => {
  it("undoes what was done, also in a sub-workflow, and is a success", async () => {
    const say = folder();
    await say("run", "order.json", "--id", "o");
    const { code, stdout } = await say("cancel", "o", "--reason", "changed my mind");
    expect(code).toBe(0);
    expect(stdout.replace(/\d+ ms/g, "N ms")).toContain(
      "■ cancelled     changed my mind\n↩ bill/charge   undone  N ms\n↩ book          undone  N ms\n\n✖ o cancelled: changed my mind\n",
    );
    const shown = await say("show", "o");
    expect(shown.stdout).toMatch(/^Undone\n {2}↩ bill\/charge +"refunded"\n {2}↩ book +7$/m);
    expect((await say("cancel", "o")).stderr).toMatch(/^error EXECUTION_ENDED: /);
  });

  it("ends one item of a map, and the rest goes on", async () => {
    const say = folder();
    await say("run", "calls.json", "--id", "c");
    const { code, stdout } = await say("cancel", "c", "--step", "each[1]", "--json");
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([{ event: { type: "cancelled", scope: "0#2/1" } }, { type: "result", status: "error" }]);
    expect((await say("show", "c", "--events")).stdout).toMatch(/■ each\[1\] +cancelled\n/);
  });
});

describe("retry", () => {
  it("makes a pending retry at once, that of a place or the first", async () => {
    const say = folder();
    const run = await say("run", "calls.json", "--id", "c");
    expect(run.stdout).toMatch(/✖ each\[0\]\/try {2}attempt 1 .* The line is busy {2}retry in 1 h\n/);
    expect(run.stdout).toContain("⏸ c waits: 3 places are open: 2 are to be retried, 1 waits for an answer.\n");
    expect((await say("ls")).stdout).toMatch(/^c +error +calls +each +an answer, a retry in (?:1 h|\d+ min)/m);
    const shown = await say("show", "c");
    expect(shown.stdout).toMatch(
      /↻ each\[1\]\/try .*The line is busy; is tried again at .*\n {6}(?:npx )?stepfold retry c --step 'each\[1\]\/try'\n/,
    );
    const one = await say("retry", "c", "--step", "each[1]/try");
    expect(one.stdout).toMatch(/↻ each\[1\]\/try {2}is retried now\n✔ each\[1\]\/try {2}attempt 2 /);
    const other = await say("retry", "c");
    expect(other.stdout).toMatch(/↻ each\[0\]\/try .*\n✔ each\[0\]\/try .*\n✔ each +goes on with 2 items\n/);
    expect((await say("retry", "c")).stderr).toMatch(/^error RETRY_NOT_PENDING: /);
  });
});

describe("signal", () => {
  it("is kept until somebody waits for it, and counts once per idempotency key", async () => {
    const say = folder();
    await say("run", "wait.json", "--id", "w");
    const send = ["signal", "w", "paid", "--payload", '{"sum":4}', "--ttl", "2h", "--idempotency-key", "k1"];
    const sent = await say(...send);
    expect(sent.code).toBe(0);
    expect(sent.stdout).toMatch(/^▷ signal +"paid": \{"sum":4\} {2}nobody waits for it yet; it is kept for 2 h$/m);
    expect((await say("show", "w")).stdout).toMatch(/\nKept signals\n {2}"paid": \{"sum":4\} {2}for (?:2 h|1 h 59 min|1 h 60 min) more\n/);
    expect(await say(...send)).toMatchObject({ code: 0, stderr: "This signal was sent before; going on\n" });
    const done = await say("resume", "w", "--payload", '{"approved":true}');
    expect(done.stdout).toMatch(/✔ paid .*\n\n✔ w completed in .*\n\{\n {2}"sum": 4\n\}\n$/);
  });

  it("lets a wait go on, and the execution with it", async () => {
    const say = folder();
    await say("run", "wait.json", "--id", "w");
    const paused = await say("resume", "w", "--payload", '{"approved":true}', "--exit-code");
    expect(paused.code).toBe(3);
    expect(paused.stdout).toMatch(/⏸ w is paused: paid waits for the signal "paid"\.\n\n {2}(?:npx )?stepfold signal w paid\n$/);
    const done = await say("signal", "w", "paid", "--json");
    expect(jsonLines(done.stdout)).toMatchObject([
      { event: { type: "signalled", name: "paid" } },
      { event: { type: "completed", nodeId: "paid" } },
      { type: "result", status: "completed", sentence: "Completed." },
    ]);
  });
});
