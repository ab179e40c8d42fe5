import type { Snapshot, WorkflowDefinition } from "stepfold";
import { describe, expect, it } from "vitest";
import { answerable, type CommandContext, commandLine } from "./next-command.ts";

const definition: WorkflowDefinition = {
  id: "w",
  nodes: [
    { id: "ask", type: "approval" },
    { id: "sign", type: "sign" },
    { id: "loop", type: "approval" },
  ],
  edges: [
    { source: "ask", target: "sign" },
    { source: "loop", target: "loop", sourceHandle: "rejected" },
  ],
};
const context: CommandContext = {
  program: ["stepfold"],
  flags: ["--db", "my data.db"],
  definition,
  resumeSchema: (type) => (type === "sign" ? { type: "string" } : undefined),
};

function waitingAt(...nodes: readonly string[]): Snapshot {
  const activePaths = nodes.map((nodeId, i) => ({
    id: `0.${i}`,
    nodeId,
    status: "suspended" as const,
    turn: 2,
    visit: 1,
    attempts: 0,
    since: 1,
    stepPath: [],
    waits: [{ id: `0.${i}@2`, kind: "external" as const }],
  }));
  return { workflowId: "one", activePaths } as unknown as Snapshot;
}

describe("answerable", () => {
  const commands = (...nodes: readonly string[]): string[] => answerable(waitingAt(...nodes), context).map(({ command }) => command);

  it("names no node where only one waits", () => {
    expect(commands("ask")).toEqual(["stepfold resume one --db 'my data.db'"]);
  });

  it("names the node where several wait, and makes a payload from its type's schema", () => {
    expect(commands("ask", "sign")).toEqual([
      "stepfold resume one --node ask --db 'my data.db'",
      `stepfold resume one --node sign --payload '"…"' --db 'my data.db'`,
    ]);
  });

  it("names the very wait where the node waits twice, or will wait again", () => {
    expect(commands("ask", "ask")[1]).toContain("--wait 0.1@2");
    expect(commands("loop")[0]).toContain("--wait 0.0@2");
  });
});

describe("commandLine", () => {
  it("keeps an id that looks like an option from being one", () => {
    expect(commandLine({ ...context, flags: [] }, "resume", "-x", ["--by", "ada"])).toBe("stepfold resume --by ada -- -x");
  });
});
