import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newFolder, type Place } from "./cli.ts";
import { maxMs, startDev } from "./start-dev.ts";

const fine = { id: "fine", nodes: [{ id: "set", type: "set", data: { text: "good" } }], edges: [] };

/** Writes files into a new folder; objects as JSON. */
function project(files: Readonly<Record<string, string | object>>): Place {
  const place = { cwd: newFolder() };
  for (const [path, content] of Object.entries(files)) put(place, path, content);
  return place;
}

function put({ cwd }: Place, path: string, content: string | object): void {
  mkdirSync(join(cwd, path, ".."), { recursive: true });
  writeFileSync(join(cwd, path), typeof content === "string" ? content : JSON.stringify(content));
}

/** A config with these node types, as code. */
const configOf = (types: string): string => `import { defineConfig } from "@stepfold/cli";
import { defineNode } from "stepfold";
const input = { type: "object" } as const;
export default defineConfig({ nodeDefinitions: { ${types} } });
`;

describe("stepfold dev, where something is broken", () => {
  it("replaces a process whose code never gives way, answers what was asked of it, and cancels meanwhile", async () => {
    const place = project({
      "stepfold.config.ts": configOf("spin: defineNode({ input, executor() { for (;;) {} } })"),
      "workflows/loop.json": { id: "loop", nodes: [{ id: "turn", type: "spin", data: {} }], edges: [] },
      "workflows/fine.json": fine,
    });
    const { running, client } = await startDev(place);
    expect((await client.executions.start({ workflow: "fine", id: "a" })).isNew).toBe(true);
    const looping = client.executions.start({ workflow: "loop", id: "l" }).catch((error: unknown) => error);
    await expect.poll(async () => (await client.executions.get("l").catch(() => null))?.status, { timeout: maxMs }).toBe("active");
    const later = client.executions.start({ workflow: "fine", id: "b" });
    const unnamed = client.executions.start({ workflow: "fine" });
    unnamed.catch(() => undefined);
    await expect(later).rejects.toMatchObject({
      code: "OUTCOME_UNKNOWN",
      status: 503,
      details: { workflowId: "b", action: "start", reason: expect.stringContaining("give way") },
    });
    await expect(unnamed).rejects.toMatchObject({
      code: "OUTCOME_UNKNOWN",
      details: { workflowId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    await looping;
    await running.saw("has not answered for");
    expect(running.stdout()).toContain('\\"turn\\" of l');
    await client.executions.cancel("l");
    await expect.poll(async () => (await client.executions.get("l")).status, { timeout: maxMs }).toBe("cancelled");
    await expect
      .poll(async () => (await client.executions.start({ workflow: "fine", id: "b" }).catch(() => null))?.workflowId, { timeout: maxMs })
      .toBe("b");
    await expect.poll(async () => (await client.executions.get("b")).status, { timeout: maxMs }).toBe("completed");
  });

  it("of two files with one id names both, and runs the one that had it before", async () => {
    const place = project({ "workflows/b.json": fine, "workflows/c.json": { ...fine, id: "other" } });
    const { running, client } = await startDev(place);
    const text = async (workflow: string, id: string): Promise<unknown> => {
      await client.executions.start({ workflow, id });
      await expect.poll(async () => (await client.executions.get(id)).status, { timeout: maxMs }).toBe("completed");
      return ((await client.executions.get(id)).output as { text?: unknown }).text;
    };
    expect(await text("fine", "1")).toBe("good");
    put(place, "workflows/a.json", { ...fine, nodes: [{ id: "set", type: "set", data: { text: "copied" } }] });
    await running.saw('workflows/a.json cannot run:\\nworkflows/b.json has the id \\"fine\\" too');
    await running.saw("the code runs, as it is now");
    expect([await text("fine", "2"), await text("other", "3")]).toEqual(["good", "good"]);
  });

  it("says that nothing runs while there was never good code, and when what the code needs cannot be opened; executions are cancelled all the same", async () => {
    const asking = { id: "asking", nodes: [{ id: "ask", type: "approval", data: { message: "Go on?" } }], edges: [] };
    const place = project({ "stepfold.config.ts": "export defalt {};", "workflows/asking.json": asking });
    const { running, client } = await startDev(place);
    await running.saw("Nothing runs until this is mended");
    expect((await client.me()).notice).toContain("No code runs");
    await expect(client.executions.start({ workflow: "asking" })).rejects.toMatchObject({ code: "RUNTIME_CLOSED", status: 503 });
    put(place, "stepfold.config.ts", "export default {};");
    await expect
      .poll(async () => (await client.executions.start({ workflow: "asking", id: "a" }).catch(() => null))?.workflowId, { timeout: maxMs })
      .toBe("a");
    expect((await client.me()).notice).toBe(undefined);
    put(place, "stepfold.config.ts", "export defalt {};");
    await running.saw("goes on until this is mended");
    expect((await client.me()).notice).toContain("the code before it runs");
    // what the new code needs is opened after the process before has ended: both may want the same port
    put(place, "stepfold.config.ts", 'export default { globals: () => { throw new Error("no mail server"); } };');
    await running.saw("no mail server");
    await expect(client.executions.start({ workflow: "asking" })).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
    await client.executions.cancel("a");
    expect((await client.executions.get("a")).status).toBe("cancelled");
    put(place, "stepfold.config.ts", "export default {};");
    await running.saw("the code runs, as it is now");
    expect((await client.executions.start({ workflow: "asking", id: "b" })).isNew).toBe(true);
  });

  it("runs the last of many changes in a row", async () => {
    const place = project({ "stepfold.config.ts": configOf(""), "workflows/fine.json": fine });
    const { client } = await startDev(place);
    for (let i = 0; i < 8; i++) {
      put(place, "stepfold.config.ts", i % 3 === 2 ? "export defalt {};" : `${configOf("")}// ${i}`);
      put(place, "workflows/fine.json", { ...fine, nodes: [{ id: "set", type: "set", data: { text: `version ${i}` } }] });
      await new Promise((resolve) => setTimeout(resolve, i * 100));
    }
    let last = 0;
    await expect
      .poll(
        async () => {
          const id = `f${++last}`;
          await client.executions.start({ workflow: "fine", id });
          await expect.poll(async () => (await client.executions.get(id)).status, { timeout: maxMs }).toBe("completed");
          return (await client.executions.get(id)).output;
        },
        { timeout: maxMs },
      )
      .toEqual({ text: "version 7" });
  });
});
