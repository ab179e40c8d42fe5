import { type NodeDefinitions, type Snapshot, WorkflowEngine } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { describe, expect, it } from "vitest";
import { type Brief, flow } from "../../test/flow.fixture.ts";
import { answerable, type CommandContext, commandLine } from "./next-command.ts";

const sign = {
  executor: (_: unknown, step: { suspend(): never; externalPayload?: string }) => ({ data: step.externalPayload ?? step.suspend() }),
};
const context: CommandContext = {
  program: ["stepfold"],
  flags: ["--store", "my data.db"],
  workflow: null,
  resumeSchema: (type) => (type === "sign" ? { type: "string" } : undefined),
  user: "me",
};

async function pausedAt(
  nodes: Readonly<Record<string, Brief>>,
  edges: readonly string[] = [],
  workflows: object = {},
): Promise<{ snapshot: Snapshot; engine: WorkflowEngine<NodeDefinitions>; commands: (snapshot?: Snapshot) => (string | null)[] }> {
  const names = Object.keys(nodes);
  const workflow = flow("w", { go: "noop", ...nodes }, edges.length > 0 ? edges : names.map((name) => `go>${name}`), {
    workflows,
    start: "go",
  });
  const engine = new WorkflowEngine({ workflow, nodeDefinitions: { ...builtinNodes, sign } as unknown as NodeDefinitions });
  const snapshot = await engine.execute({ workflowId: "one" });
  const commands = (now = snapshot): (string | null)[] =>
    answerable(now, { ...context, flags: [], workflow: engine.workflow }).map(({ command }) => command);
  return { snapshot, engine, commands };
}

const approved = `--payload '{"approved":true}'`;
const approve = flow("approve", { ask: "approval" });

describe("answerable", () => {
  it("names no step where only one waits", async () => {
    const { snapshot, engine } = await pausedAt({ ask: "approval" });
    expect(answerable(snapshot, { ...context, workflow: engine.workflow })[0]!.command).toBe(
      `stepfold resume one ${approved} --store 'my data.db'`,
    );
  });

  it("shows a schedule, which takes no signal from others", async () => {
    const { snapshot, commands } = await pausedAt({ tick: ["signal", { name: "schedule" }] });
    expect(commands()).toEqual(["stepfold signal one schedule"]);
    expect(commands({ ...snapshot, workflowId: "schedule:nightly" })).toEqual(["stepfold schedule show nightly"]);
  });

  it("names the step where several wait, and makes a payload from its type's schema", async () => {
    const { commands } = await pausedAt({ ask: "approval", paper: "sign" });
    expect(commands()).toEqual([`stepfold resume one --step ask ${approved}`, `stepfold resume one --step paper --payload '"…"'`]);
  });

  it("names the step where several have failed and wait for a decision", async () => {
    const workflow = flow("w", { go: "noop", a: "broken", b: "broken" }, ["go>a", "go>b"], { start: "go", incident: true });
    const broken = {
      executor: (): never => {
        throw new TypeError("broken");
      },
    };
    const engine = new WorkflowEngine({ workflow, nodeDefinitions: { ...builtinNodes, broken } as unknown as NodeDefinitions });
    const snapshot = await engine.execute({ workflowId: "one" });
    const commands = answerable(snapshot, { ...context, flags: [], workflow: engine.workflow }).map(({ command }) => command);
    expect(commands).toEqual([expect.stringContaining("resume one --step a "), expect.stringContaining("resume one --step b ")]);
  });

  it("names the very wait where the step waits twice, will wait again, or may", async () => {
    const twice = await pausedAt({ a: "noop", b: "noop", ask: "approval" }, ["go>a", "go>b", "a>ask", "b>ask"]);
    expect(twice.commands()).toEqual([`stepfold resume one --wait 0@4 ${approved}`, `stepfold resume one --wait 0.1@3 ${approved}`]);
    const loop = await pausedAt({ ask: "approval" }, ["go>ask", "ask>ask@rejected"]);
    expect(loop.commands()).toEqual([`stepfold resume one --wait 0@3 ${approved}`]);
    const around = await pausedAt({ sub: ["workflow", { workflow: "approve" }] }, ["go>sub", "sub>go"], { approve });
    expect(around.commands()[0]).toMatch(/--wait '0#2>0@2'/);
    expect(answerable(loop.snapshot, { ...context, flags: [] })[0]!.command).toContain("--wait 0@3");
  });

  it("names items of maps and steps of sub-workflows by their address", async () => {
    const { commands } = await pausedAt(
      { each: ["map", { workflow: "approve", items: [1, 2] }], sub: ["workflow", { workflow: "approve" }] },
      [],
      {
        approve,
      },
    );
    expect(commands()).toEqual([
      `stepfold resume one --step 'each[0]/ask' ${approved}`,
      `stepfold resume one --step 'each[1]/ask' ${approved}`,
      `stepfold resume one --step sub/ask ${approved}`,
    ]);
  });

  it("says who answers, where it matters", async () => {
    const some = await pausedAt({ ask: ["approval", { responders: ["ada", "bob"], quorum: 2 }] });
    expect(some.commands()[0]).toContain("--by ada");
    const one = await some.engine.send(some.snapshot, { type: "resume", payload: { approved: true }, by: "ada" });
    expect(some.commands(one)[0]).toContain("--by bob");
    const any = await pausedAt({ ask: ["approval", { quorum: 2 }] });
    expect(any.commands()[0]).toContain("--by me");
    const mine = await any.engine.send(any.snapshot, { type: "resume", payload: { approved: true }, by: "me" });
    expect(any.commands(mine)[0]).toContain("--by NAME");
  });

  it("sends signals with their keys, and leaves time alone", async () => {
    const signals = [{ name: "it's paid", key: "o 1" }, { name: "-x" }];
    const { commands } = await pausedAt({
      settle: ["race", { signals, timer: { for: "1 day" } }],
      ship: ["signal", { name: "go", schema: { type: "number" } }],
    });
    expect(commands()).toEqual([
      `stepfold signal one 'it'\\''s paid' --key 'o 1'`,
      "stepfold signal -- one -x",
      null,
      "stepfold signal one go --payload 1",
    ]);
  });
});

describe("commandLine", () => {
  it("keeps an id that looks like an option from being one", () => {
    expect(commandLine({ ...context, flags: [] }, "resume", ["-x"], ["--by", "ada"])).toBe("stepfold resume --by ada -- -x");
  });
});
