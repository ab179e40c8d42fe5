import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { defineDurable } from "../../../src/durable/define-durable.ts";
import { expectGolden } from "../../../src/testing/kit/expect-golden.ts";
import { testRun } from "../../../src/testing/kit/test-run.ts";
import { workflowMatchers } from "../../../src/testing/vitest/workflow-matchers.ts";
import { subscription } from "./subscription.fixture.ts";

const folders: string[] = [];

async function fileInFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "golden-"));
  folders.push(folder);
  return join(folder, "golden.json");
}

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

function letter(steps: readonly string[]) {
  return defineDurable({
    id: "letter",
    async run({ step }) {
      for (const name of steps) await step.run(name, () => name);
      await step.sleep("pause", "1d");
      return steps.length;
    },
  });
}

describe("a golden file", () => {
  // the file is of the commit that brought golden files: every later version must open it and go on with it
  it("of an earlier version opens, is replayed, and is what the test still does", async () => {
    await using t = await testRun(subscription, {
      input: { customer: "ada" },
      mocks: { charge: [{ ok: true }, new Error("busy"), { ok: false }, { ok: true }] },
    });
    await t.advance("30d");
    await t.advance("1h");
    await t.crash();
    await t.advance("3d");
    await t.signal("cancel", { reason: "moved" });
    await expectGolden(t, new URL("subscription.json", import.meta.url));
  });

  it("is written where there is none, and then compared without ids and times", async () => {
    const file = await fileInFolder();
    const { CI } = process.env;
    delete process.env.CI;
    try {
      await using t = await testRun(letter(["a", "b"]));
      await expectGolden(t, file);
    } finally {
      if (CI !== undefined) process.env.CI = CI;
    }
    await using later = await testRun(letter(["a", "b"]), { workflowId: "another", startAt: "2030-05-05T05:05:05Z" });
    await expectGolden(later, file);
    await later.advance("1d");
    await expect(expectGolden(later, file)).rejects.toMatchObject({
      reason: "GOLDEN_DIFFERS",
      message: expect.stringMatching(/The status of the test differs.*"paused".*"completed".*UPDATE_GOLDEN=1/s),
    });
    await expectGolden(later, file, { update: true });
    await expectGolden(later, file);
  });

  it("is not written in a pipeline, and what is no golden file is refused", async () => {
    const file = await fileInFolder();
    const { CI } = process.env;
    process.env.CI = "1";
    try {
      await using t = await testRun(letter(["a"]));
      await expect(expectGolden(t, file)).rejects.toMatchObject({
        reason: "GOLDEN_INVALID",
        message: expect.stringContaining("There is no golden file"),
      });
      await writeFile(file, "{");
      await expect(expectGolden(t, file)).rejects.toMatchObject({
        reason: "GOLDEN_INVALID",
        message: expect.stringContaining("is not JSON"),
      });
      await writeFile(file, "{}");
      await expect(expectGolden(t, file)).rejects.toMatchObject({ reason: "GOLDEN_INVALID" });
    } finally {
      if (CI === undefined) delete process.env.CI;
      else process.env.CI = CI;
    }
  });

  it("finds code that could not go on with an earlier version of the execution, although the test itself fits", async () => {
    const file = await fileInFolder();
    await using t = await testRun(letter(["a", "b"]));
    await expectGolden(t, file, { update: true });
    // in the file the second step was asked for as the third one
    const text = await readFile(file, "utf8");
    const golden = JSON.parse(text) as { way: string[]; events: { nodeId?: string; pathId?: string }[] };
    const events = golden.events.map((event) => (event.pathId === "0.2" ? { ...event, pathId: "0.3" } : event));
    await writeFile(file, JSON.stringify({ ...golden, events }));
    await expect(expectGolden(t, file)).rejects.toMatchObject({
      reason: "CODE_NOT_REPEATABLE",
      message: expect.stringMatching(/cannot go on with version 2 of the history.*step 2|step 3 was "b"/s),
    });
  });
});

describe("the matchers", () => {
  it("say what a test is instead", async () => {
    expect.extend(workflowMatchers);
    await using t = await testRun(letter(["a"]));
    const { toHaveStatus, toHaveGone, toWaitFor } = workflowMatchers;
    expect(toHaveStatus(t, "paused").pass).toBe(true);
    expect(toHaveStatus(t, "failed")).toMatchObject({ pass: false, actual: "paused" });
    expect(toHaveGone(t, ["a", "pause"]).pass).toBe(true);
    expect(toHaveGone(t, ["a"]).message()).toBe('"test" has gone a, pause');
    expect(toWaitFor(t, "pause").pass).toBe(true);
    expect(toWaitFor(t, "approve").message()).toBe('"test" waits for pause');
    const file = await fileInFolder();
    await expectGolden(t, file, { update: true });
    expect(await workflowMatchers.toMatchGolden.call({}, t, file)).toMatchObject({ pass: true });
    await t.advance("1d");
    expect(await workflowMatchers.toMatchGolden.call({ testPath: join(file, "..", "a.test.ts") }, t, "golden.json")).toMatchObject({
      pass: false,
    });
  });
});
