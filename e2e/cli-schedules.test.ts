import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, jsonLines, newFolder, type Place, startCli } from "./cli.ts";

const report = { id: "report", nodes: [{ id: "say", type: "set", data: "{{ input }}" }], edges: [] };

function place(more = ""): Place {
  const cwd = newFolder();
  writeFileSync(join(cwd, "stepfold.config.mjs"), `export default { workflows: [${JSON.stringify(report)}]${more} };`);
  return { cwd, env: { STEPFOLD_LEASE_MS: "1000" } };
}

async function told(where: Place, ...args: readonly string[]) {
  const { code, stdout, stderr } = await cli(["schedule", ...args, "--json"], where);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return jsonLines(stdout);
}

describe("stepfold schedule", () => {
  it("makes, shows, edits, pauses, resumes and deletes schedules", async () => {
    const where = place();
    const made = await cli(["schedule", "add", "nightly", "report", "--cron", "0 2 * * *", "--zone", "Europe/Vienna"], where);
    expect(made).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(/^nightly active\n {2}starts {3}report, 0 2 \* \* \* Europe\/Vienna/),
    });
    expect(await told(where, "edit", "nightly", "--every", "6h", "--jitter", "1m", "--input", '{"a":1}')).toMatchObject([
      { type: "schedule", name: "nightly", generation: 2, spec: { every: 21_600_000, jitter: 60_000, input: { a: 1 } } },
    ]);
    const [edited] = await told(where, "edit", "nightly", "--remove", "input,jitter");
    expect(edited!.spec).not.toHaveProperty("input");
    expect(await told(where, "pause", "nightly", "--note", "the server moves")).toMatchObject([
      { status: "paused", note: "the server moves" },
    ]);
    const listed = await cli(["schedule"], where);
    expect(listed.stdout).toMatch(/^name +status +workflow +rule +next +last +ticks\nnightly +paused +report +every 6 h/);
    expect(await told(where, "resume", "nightly")).toMatchObject([{ status: "active" }]);
    expect(await cli(["schedule", "show", "nightly"], where)).toMatchObject({ code: 0, stdout: expect.stringContaining("  next     ") });
    expect(await cli(["schedule", "rm", "nightly"], where)).toMatchObject({
      code: 0,
      stdout: "✔ nightly is deleted; what it has started goes on\n",
    });
    expect(await cli(["schedule", "ls"], where)).toMatchObject({ stdout: "No schedules\n" });
    expect(await told(where, "ls", "--ended")).toMatchObject([{ name: "nightly", status: "ended" }]);
  });

  it("A27: runs no code of the folder to list or show", async () => {
    const where = place();
    await told(where, "add", "nightly", "report", "--every", "1d");
    writeFileSync(
      join(where.cwd, "stepfold.config.mjs"),
      'import { existsSync, writeFileSync } from "node:fs"; writeFileSync("imported", ""); export default {};',
    );
    for (const args of [[], ["ls"], ["ls", "--ended"], ["show", "nightly"]])
      expect(await cli(["schedule", ...args], where)).toMatchObject({ code: 0 });
    expect(existsSync(join(where.cwd, "imported"))).toBe(false);
    await told(where, "pause", "nightly");
    expect(existsSync(join(where.cwd, "imported"))).toBe(true);
  });

  it("is driven by workers, which put those that the config declares; what cannot be started is told by doctor", async () => {
    const where = place(', schedules: { declared: { workflow: "report", every: "1s", overlap: "allow" } }');
    await cli(["run", "report", "--id", "mine@2026-11-01T00:00:00Z"], where);
    await told(where, "add", "mine", "report", "--cron", "0 0 1 1 *");
    const worker = startCli(["worker", "--json"], where);
    await worker.saw('"working"');
    await worker.saw("declared@");
    const key = ["--idempotency-key", "click-17"];
    const [triggered] = await told(where, "trigger", "mine", ...key);
    expect(await told(where, "trigger", "mine", ...key)).toEqual([triggered]);
    await worker.saw(triggered!.workflowId as string);
    await told(where, "edit", "mine", "--cron", "0 0 * * *");
    await told(where, "backfill", "mine", "--from", "2026-11-01", "--to", "2026-11-03");
    await worker.saw("mine@2026-11-03T00:00:00Z");
    worker.child.kill("SIGTERM");
    expect(await worker.ended).toMatchObject({ code: 0 });
    const examined = await cli(["doctor", "--quick"], where);
    expect(examined).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("✖ schedule mine could not start mine@2026-11-01T00:00:00Z: "),
    });
    expect(examined.stdout).toContain("(START_CONFLICT)");
    expect(await told(where, "show", "mine")).toMatchObject([{ counts: { started: 3 }, problems: [{ code: "START_CONFLICT" }] }]);
  });

  it("reads times without an offset in the zone beside them", async () => {
    const where = place();
    const zoned = ["--zone", "America/New_York", "--start-at", "2099-03-08T02:30", "--end-at", "2099-11-01 01:30"];
    const [made] = await told(where, "add", "zoned", "report", "--cron", "0 9,17 * * *", ...zoned);
    // the time that is left out is the change of the clocks, and of the time that is there twice it is the first
    const [startAt, endAt] = ["2099-03-08T07:00:00Z", "2099-11-01T05:30:00Z"].map(Date.parse);
    expect(made).toMatchObject({
      spec: { zone: "America/New_York", startAt, endAt },
      nextTicks: expect.arrayContaining([Date.parse("2099-03-08T13:00:00Z")]),
    });
    const [edited] = await told(where, "edit", "zoned", "--start-at", "2099-03-09T09:00:00.5-04");
    expect(edited).toMatchObject({ spec: { startAt: Date.parse("2099-03-09T13:00:00.500Z") } });
    const [once] = await told(where, "add", "once", "report", "--at", "2099-12-24T18:00", "--zone", "Europe/Vienna");
    expect(once!.nextTicks).toEqual([Date.parse("2099-12-24T17:00:00Z")]);
  });

  it("says what is wrong, and what to do", async () => {
    const where = place();
    await told(where, "add", "s", "report", "--every", "1h");
    for (const [args, says] of [
      [["add", "s", "report", "--every", "2h"], /^error SCHEDULE_EXISTS/],
      [["add", "t", "report"], /^error SCHEDULE_INVALID: .*\n {2}\/cron: exactly one/],
      [["add", "t", "report", "--cron", "x"], /^error SCHEDULE_INVALID/],
      [["add", "t", "report", "--every", "1h", "--count", "many"], /\/count: must be a whole number/],
      [["add", "t", "report", "--at", "2099-12-24T18:00"], /\/at: has no offset, .* Or give a zone/],
      [["add", "t", "report", "--every", "1h", "--zone", "UTC"], /\/zone: is only allowed together with/],
      [["edit", "s", "--end-at", "2099-12-24 18:00:00"], /\/endAt: has no offset/],
      [["backfill", "s", "--from", "2026-11-01T02:00", "--to", "2026-11-08"], /"from" has no offset/],
      [["add", "a b", "report", "--every", "1h"], /^error OPTION_INVALID/],
      [["edit", "s"], /^error USAGE: Say what is to be changed/],
      [["pause", "none"], /^error SCHEDULE_NOT_FOUND: .*\nstepfold schedule ls/],
      [["trigger", "s", "--idempotency-key", ""], /^error OPTION_INVALID/],
      [["backfill", "s", "--from", "2026-11-01"], /--to/],
      [["backfill", "s", "--from", "2026-11-01", "--to", "2999-01-01"], /must not be in the future/],
    ] as const) {
      const { code, stderr } = await cli(["schedule", ...args], where);
      expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringMatching(says) });
    }
    expect(await cli(["schedule", "ls"], { cwd: newFolder() })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("DATABASE_NOT_FOUND"),
    });
  });
});
