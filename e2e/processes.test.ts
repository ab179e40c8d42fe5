import { chownSync, existsSync, lchownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { bin, cli, jsonLines, newFolder, orderFlow, printedCommand, start, startCli, startPrinted } from "./cli.ts";

const config = `
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
export default {
  nodeDefinitions: {
    slow: {
      async executor(data) {
        appendFileSync("did.txt", "began\\n");
        await sleep(existsSync("be-quick") ? 1 : data.ms);
        return { data };
      },
    },
  },
};`;
const slow = (ms: number): string =>
  JSON.stringify({
    id: "slow",
    nodes: [
      { id: "first", type: "slow", data: { ms } },
      { id: "second", type: "set", data: "done" },
    ],
    edges: [{ source: "first", target: "second" }],
  });

function slowFolder(ms: number): string {
  const cwd = newFolder();
  writeFileSync(join(cwd, "stepfold.config.ts"), config);
  writeFileSync(join(cwd, "slow.json"), slow(ms));
  return cwd;
}

function began(cwd: string): number {
  return readFileSync(join(cwd, "did.txt"), "utf8").split("\n").length - 1;
}

async function untilBegan(cwd: string): Promise<void> {
  await vi.waitFor(() => expect(existsSync(join(cwd, "did.txt"))).toBe(true), { timeout: 60_000, interval: 20 });
}

describe("Ctrl-C", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s waits for the step under way, and says which command goes on", async (signal, code) => {
    const cwd = slowFolder(700);
    const running = startCli(["run", "slow.json", "--id", "s"], { cwd });
    await untilBegan(cwd);
    running.child.kill(signal);
    // with npm, the process gets the signal twice: from the terminal and from npm
    running.child.kill(signal);
    const stopped = await running.ended;
    expect(stopped.code).toBe(code);
    expect(stopped.stderr).toContain("waiting for the steps under way");
    expect(stopped.stdout).toContain("✔ first");
    expect(stopped.stdout).toContain("s is safe at version 1");
    expect(printedCommand(stopped.stdout)).toMatch(/stepfold run slow\.json --id s$/);
    const done = await startPrinted(printedCommand(stopped.stdout), { cwd }).ended;
    expect(done.stdout).toContain("s completed");
    expect(began(cwd)).toBe(1);
  });

  it("a second time ends it at once", async () => {
    const cwd = slowFolder(60_000);
    const running = startCli(["run", "slow.json", "--id", "s"], { cwd });
    await untilBegan(cwd);
    running.child.kill("SIGINT");
    await running.saw("Ctrl-C again");
    await new Promise((resolve) => setTimeout(resolve, 500));
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
  });
});

describe("several processes", () => {
  it("two at once on one id end with the same result, and make every step once", async () => {
    const cwd = newFolder();
    const args = ["run", orderFlow.file, "--config", orderFlow.config, "--input", orderFlow.input, "--id", "order-1001", "--json"];
    const both = await Promise.all([cli(args, { cwd }), cli(args, { cwd })]);
    const results = both.map(({ stdout }) => jsonLines(stdout).at(-1));
    expect(both.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: "" },
      { code: 0, stderr: "" },
    ]);
    expect(results[0]).toMatchObject({ type: "result", status: "paused", version: 9 });
    expect(results[1]).toEqual(results[0]);
    const answers = await Promise.all(
      [1, 2].map(() => cli(["resume", "order-1001", "--config", orderFlow.config, "--payload", '{"approved":true}', "--json"], { cwd })),
    );
    const ends = answers.map(({ stdout }) => jsonLines(stdout).at(-1));
    expect(ends[0]).toMatchObject({ type: "result", status: "completed" });
    expect(ends[1]).toEqual(ends[0]);
  });

  it("another one says whom it waits for, and after a kill -9 it goes on when the lease ends", async () => {
    const cwd = slowFolder(60_000);
    const args = ["run", "slow.json", "--id", "s"];
    const killed = startCli(args, { cwd });
    await untilBegan(cwd);
    const next = startCli(args, { cwd });
    await next.saw("another process has this execution; if that was killed, this one goes on in at most 2.0 s");
    writeFileSync(join(cwd, "be-quick"), "");
    killed.child.kill("SIGKILL");
    await killed.ended;
    const { code, stdout } = await next.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("s completed");
    expect(began(cwd)).toBe(2);
  });

  it("one that only waits for another shows what that does", async () => {
    const cwd = slowFolder(5_000);
    const args = ["run", "slow.json", "--id", "s"];
    const first = startCli(args, { cwd });
    await untilBegan(cwd);
    const second = await cli(args, { cwd });
    expect((await first.ended).code).toBe(0);
    expect(second.stdout).toMatch(/✔ first .*\n✔ second .*\n\n✔ s completed/);
    expect(began(cwd)).toBe(1);
  });

  it("resume without an answer goes on with what a crash has left", async () => {
    const cwd = slowFolder(400);
    const killed = startCli(["run", "slow.json", "--id", "s"], { cwd });
    await untilBegan(cwd);
    killed.child.kill("SIGKILL");
    await killed.ended;
    const { code, stdout, stderr } = await cli(["resume", "s"], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "It waits for no answer; going on\n" });
    expect(stdout).toContain("s completed");
  });
});

describe("pipes and configs", () => {
  it("a reader that leaves early ends nothing", async () => {
    const cwd = newFolder();
    const command = `"${process.execPath}" "${bin}" run "${orderFlow.file}" --config "${orderFlow.config}" --input "${orderFlow.input}" --id o; echo "exit $?" >&2`;
    const { stderr } = await start("/bin/sh", ["-c", `{ ${command}; } | true`], { cwd }).ended;
    expect(stderr).toBe("exit 0\n");
    expect((await cli(["ls"], { cwd })).stdout).toMatch(/^o +paused +order-flow +approve/m);
  });

  it("F9: the config that an execution was started with is named, and never run unless that is asked for", async () => {
    const cwd = newFolder();
    writeFileSync(
      join(cwd, "my.config.mjs"),
      `console.error("loaded"); export default { nodeDefinitions: { ask: {
        resume: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        executor: (data, step) => step.externalPayload ? { data: step.externalPayload.name } : step.suspend("Who are you?"),
      } } };`,
    );
    writeFileSync(join(cwd, "ask.json"), '{"id":"ask","nodes":[{"id":"who","type":"ask"}],"edges":[]}');
    const paused = await cli(["run", "ask.json", "--config", "my.config.mjs", "--id", "a"], { cwd });
    expect(paused.stdout).toContain('⏸ who  waits for an answer: "Who are you?"');
    expect(printedCommand(paused.stdout)).toMatch(/resume a --payload '\{"name":"…"\}' --config my\.config\.mjs$/);
    expect((await cli(["show", "a"], { cwd })).stderr).toBe("");
    for (const verb of [
      ["resume", "a", "--payload", '{"name":"Ada"}'],
      ["cancel", "a"],
      ["retry", "a"],
      ["signal", "a", "go"],
    ]) {
      const refused = await cli(verb, { cwd });
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain("a was started with my.config.mjs, which is not the config of this folder");
      expect(refused.stderr).toContain("add: --config my.config.mjs");
      expect(refused.stderr).not.toContain("loaded");
    }
    const resumed = await cli(["resume", "a", "--payload", '{"name":"Ada"}', "--config", "my.config.mjs"], { cwd });
    expect(resumed.code).toBe(0);
    expect(resumed.stdout).toContain("a completed");
  });

  it("F8: a config beside another file, above it or above this folder is not run unless it is named", async () => {
    const cwd = newFolder();
    const theirs = join(cwd, "theirs/flows");
    const mine = join(cwd, "mine");
    for (const folder of [theirs, mine]) mkdirSync(folder, { recursive: true });
    const hostile = 'console.error("loaded"); export default {};';
    for (const folder of [cwd, theirs, join(cwd, "theirs")]) writeFileSync(join(folder, "stepfold.config.mjs"), hostile);
    const file = "../theirs/flows/w.json";
    writeFileSync(join(mine, file), '{"id":"w","nodes":[{"id":"a","type":"noop"}],"edges":[]}');
    for (const verb of ["validate", "run"]) {
      const ended = await cli([verb, file], { cwd: mine });
      expect(ended.code).toBe(0);
      expect(ended.stderr).not.toContain("loaded");
    }
    expect((await cli(["validate", file], { cwd: mine })).stderr).toContain("../theirs/flows/stepfold.config.mjs was not read");
    expect((await cli(["validate", file, "--config", "../theirs/stepfold.config.mjs"], { cwd: mine })).stderr).toContain("loaded");
    expect((await cli(["validate", "theirs/flows/w.json"], { cwd })).stderr).toContain("loaded");
  });

  it.skipIf(process.getuid?.() !== 0)("F8: a config of another user is not run unless it is named", async () => {
    const cwd = newFolder();
    const config = join(cwd, "stepfold.config.mjs");
    writeFileSync(config, 'console.error("loaded"); export default {};');
    writeFileSync(join(cwd, "w.json"), '{"id":"w","nodes":[{"id":"a","type":"noop"}],"edges":[]}');
    chownSync(config, 12345, 12345);
    const refused = await cli(["run", "w.json"], { cwd });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("stepfold.config.mjs belongs to another user (uid 12345), and a config is code");
    expect(refused.stderr).not.toContain("loaded");
    expect((await cli(["run", "w.json", "--config", "stepfold.config.mjs"], { cwd })).stderr).toContain("loaded");
  });

  it.skipIf(process.getuid?.() !== 0)("F8: a link of another user to a file of one's own is not run unless it is named", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "mine.mjs"), 'console.error("loaded"); export default {};');
    writeFileSync(join(cwd, "w.json"), '{"id":"w","nodes":[{"id":"a","type":"noop"}],"edges":[]}');
    symlinkSync("mine.mjs", join(cwd, "stepfold.config.mjs"));
    expect((await cli(["validate", "w.json"], { cwd })).stderr).toContain("loaded");
    lchownSync(join(cwd, "stepfold.config.mjs"), 12345, 12345);
    for (const verb of ["validate", "run"]) {
      const refused = await cli([verb, "w.json"], { cwd });
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain("stepfold.config.mjs belongs to another user (uid 12345), and a config is code");
      expect(refused.stderr).not.toContain("loaded");
    }
  });

  it("goes on with the version of the workflow that it was started with", async () => {
    const cwd = slowFolder(10);
    writeFileSync(
      join(cwd, "w.json"),
      '{"id":"w","nodes":[{"id":"ask","type":"approval"},{"id":"end","type":"set","data":1}],"edges":[{"source":"ask","target":"end","sourceHandle":"approved"}]}',
    );
    await cli(["run", "w.json", "--id", "a"], { cwd });
    writeFileSync(join(cwd, "w.json"), '{"id":"w","nodes":[{"id":"other","type":"noop"}],"edges":[]}');
    const again = await cli(["run", "w.json", "--id", "a"], { cwd });
    expect(again.stderr).toBe("w.json has changed since a was started; it goes on with the version it was started with\n");
    expect((await startPrinted(printedCommand(again.stdout), { cwd }).ended).stdout).toContain("✔ end");
  });
});
