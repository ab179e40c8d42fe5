import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, type Ended, newFolder } from "./cli.ts";

const config = `const call = (id, workflow) => ({ id,
  nodes: [{ id: "call", type: "workflow", data: { workflow, detached: true, workflowId: workflow + "-1", input: 7 } }, { id: "end", type: "set", data: "{{ $json }}" }],
  edges: [{ source: "call", target: "end" }],
});
export default { workflows: [
  { id: "leaf", nodes: [{ id: "nap", type: "wait", data: { for: "20ms" } }, { id: "x", type: "set", data: "{{ input * 2 }}" }], edges: [{ source: "nap", target: "x" }] },
  { id: "question", nodes: [{ id: "ask", type: "approval" }], edges: [] },
  call("quick", "leaf"), call("patient", "question"),
] };`;

function folder(): (...args: string[]) => Promise<Ended> {
  const cwd = newFolder();
  writeFileSync(join(cwd, "stepfold.config.mjs"), config);
  return (...args) => cli(args, { cwd });
}

describe("a detached workflow, on the command line", () => {
  it("is driven along, and waited for as long as it moves", async () => {
    const say = folder();
    const { code, stdout } = await say("run", "quick", "--id", "q");
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('▶ call  the execution that it waited for has ended: {"status":"completed","output":14}'),
    ]);
    expect(stdout).toMatch(/q completed in .*\n14\n$/);
    expect((await say("show", "leaf-1")).stdout).toContain("completed");
  });

  it("that asks somebody is named, and answering it moves the one that waits for it too", async () => {
    const say = folder();
    const paused = await say("run", "patient", "--id", "p");
    expect(paused.stdout).toContain('p is paused: call waits for the execution "question-1".');
    expect(paused.stdout).toContain("show question-1");
    expect((await say("resume", "question-1", "--payload", '{"approved":true}')).code).toBe(0);
    const end = await say("resume", "p");
    expect((await say("show", "p")).stdout, end.stdout).toContain("completed");
  });

  it("is cancelled with the one that waits for it", async () => {
    const say = folder();
    await say("run", "patient", "--id", "p");
    await say("cancel", "p");
    expect((await say("ls")).stdout.match(/cancelled/g)).toHaveLength(2);
  });
});
