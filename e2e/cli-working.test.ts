import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { bin, cli, jsonLines, newFolder, type Place, startCli } from "./cli.ts";

const config = `
import { defineConfig } from "@stepfold/cli";
const slow = { executor: () => new Promise((resolve) => setTimeout(() => resolve({ data: "slow" }), 300)) };
const deadly = { executor: () => process.kill(process.pid, "SIGKILL") };
export default defineConfig({ nodeDefinitions: { slow, deadly }, workflows: [
  { id: "two", nodes: [{ id: "a", type: "slow" }, { id: "b", type: "slow" }], edges: [{ source: "a", target: "b" }] },
  { id: "bomb", nodes: [{ id: "boom", type: "deadly" }], edges: [] },
  { id: "ask", nodes: [{ id: "who", type: "approval" }], edges: [] },
] });
`;

function place(): Place {
  const cwd = newFolder();
  writeFileSync(
    join(cwd, "stepfold.config.mjs"),
    config.replace('import { defineConfig } from "@stepfold/cli";', "const defineConfig = (c) => c;"),
  );
  return { cwd, env: { STEPFOLD_LEASE_MS: "300" } };
}

/** Starts an execution and kills its process during the first step, so that a worker has to take it over. */
async function leftBehind(workflow: string, id: string, where: Place, ...more: readonly string[]): Promise<void> {
  const running = startCli(["run", workflow, "--id", id, ...more], where);
  await running.saw(id);
  running.child.kill("SIGKILL");
  await running.ended;
}

async function statusOf(id: string, where: Place): Promise<string> {
  const { stdout } = await cli(["show", id, "--json"], where);
  return (JSON.parse(stdout) as { status: string }).status;
}

/** Starts a worker as npm does, by a process of its own, and ends that process. */
async function orphaned(where: Place, npmCommand: string): Promise<{ readonly pid: number; kill(): void }> {
  const script = `const { spawn } = require("node:child_process");
    const child = spawn(process.execPath, ${JSON.stringify([bin, "worker", "--json"])}, { stdio: ["ignore", "pipe", "ignore"] });
    child.stdout.once("data", () => console.log(child.pid));`;
  const npm = spawn(process.execPath, ["-e", script], { cwd: where.cwd, env: { ...process.env, npm_command: npmCommand } });
  const [printed] = (await once(npm.stdout, "data")) as [Buffer];
  const pid = Number(String(printed));
  npm.kill("SIGKILL");
  return { pid, kill: () => void process.kill(pid, "SIGKILL") };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("stepfold worker", () => {
  it("ends when npx has gone, and outlives any other parent", async () => {
    const where = place();
    await cli(["run", "two", "--id", "a"], where);
    const [daemon, ofNpx] = [await orphaned(where, "run-script"), await orphaned(where, "exec")];
    onTestFinished(daemon.kill);
    await expect.poll(() => isAlive(ofNpx.pid), { timeout: 20_000 }).toBe(false);
    expect(isAlive(daemon.pid)).toBe(true);
  });

  it("drives what others left, tells of each step, and ends well when it is asked to", async () => {
    const where = place();
    await leftBehind("two", "a", where);
    const worker = startCli(["worker", "--concurrency", "5"], where);
    await worker.saw("a ✔ b");
    const known = await cli(["workers"], where);
    expect(known).toMatchObject({ code: 0, stdout: expect.stringMatching(/^WORKER +SINCE +AT ONCE +NODE TYPES\n\S+ +.* +5 +.*noop/) });
    worker.child.kill("SIGTERM");
    const { code, stdout, stderr } = await worker.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^\s*Stopping: .*\s*$/) });
    expect(stdout.split("\n").map((line) => line.slice(9))).toEqual([
      "working on .stepfold/dev.db, at most 5 executions at once; Ctrl-C stops the worker",
      "a ✔ a",
      "a ✔ b",
      "has ended; nothing is left half done",
      "",
    ]);
    expect(await statusOf("a", where)).toBe("completed");
    expect((await cli(["workers"], where)).stdout).toBe("No worker reports that it runs executions of .stepfold/dev.db\n");
    expect(jsonLines((await cli(["workers", "--json"], where)).stdout)).toEqual([{ type: "workers", items: [] }]);
  });

  it("runs only what is in the task queues that it is given", async () => {
    const where = place();
    await leftBehind("two", "a", where, "--task-queue", "gpu");
    await leftBehind("two", "b", where);
    const web = startCli(["worker", "--task-queue", "default", "mail"], where);
    await web.saw("b ✔ b");
    expect((await cli(["show", "a"], where)).stdout).toContain('No living worker takes the task queue "gpu".');
    expect(await statusOf("a", where)).toBe("active");
    const gpu = startCli(["worker", "--task-queue", "gpu"], where);
    await gpu.saw("a ✔ b");
    for (const { child } of [web, gpu]) child.kill("SIGTERM");
    for (const { ended } of [web, gpu]) expect((await ended).code).toBe(0);
    expect((await cli(["worker", "--task-queue", "a b"], where)).stderr).toContain('Option "taskQueues" must be a list of 1 to 100 names');
  });

  it("ends the step under way and leaves the next one to others", async () => {
    const where = place();
    await leftBehind("two", "a", where);
    const worker = startCli(["worker", "--json"], where);
    await worker.saw('"working"');
    await new Promise((resolve) => setTimeout(resolve, 600));
    worker.child.kill("SIGTERM");
    const { code, stdout, stderr } = await worker.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const steps = jsonLines(stdout).filter(({ type }) => type === "event").length;
    const { stdout: shown } = await cli(["show", "a", "--json"], where);
    // every event that the command printed is committed
    expect((JSON.parse(shown) as { snapshot: { version: number } }).snapshot.version).toBe(steps);
  });

  it("is not killed for ever by one execution: it is parked, shown, and goes on when somebody says so", async () => {
    const where = place();
    // the parking rule counts only holders that began to run the execution: the first two runs die before that, the next five after it
    for (const args of [["run", "bomb", "--id", "b"], ...Array.from({ length: 6 }, () => ["worker"])]) {
      expect((await startCli(args, where).ended).signal, args.join(" ")).toBe("SIGKILL");
    }
    const worker = startCli(["worker"], where);
    await worker.saw("EXECUTION_PARKED");
    expect((await cli(["dlq"], where)).stdout).toMatch(
      /^id\s+workflow\s+since\s+until\s+why\nb\s+bomb\s.*\sretry\s+WORKER_CRASHED: 5 workers in a row died/,
    );
    expect((await cli(["show", "b"], where)).stdout).toContain("Parked: 5 workers in a row died");
    expect((await cli(["ls", "--status", "parked"], where)).stdout).toContain("a retry by hand (stepfold dlq retry)");
    expect(await cli(["doctor", "--quick"], where)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("✖ b is parked: 5 workers in a row"),
    });
    expect(await cli(["dlq", "retry", "--all"], where)).toMatchObject({ code: 0, stdout: "✔ b goes on as soon as a worker takes it\n" });
    expect((await worker.ended).signal).toBe("SIGKILL");
    expect(await cli(["dlq", "retry", "b"], where)).toMatchObject({ code: 2, stderr: expect.stringContaining("NOT_PARKED") });
  });

  it("refuses what it cannot work with", async () => {
    const where = place();
    for (const [args, says] of [
      [["worker", "--concurrency", "0"], "USAGE"],
      [["worker", "--config", "nothing.ts"], "CONFIG_NOT_FOUND"],
      [["dlq", "retry"], "USAGE"],
      [["dlq", "retry", "x", "--all"], "USAGE"],
    ] as const) {
      expect(await cli(args, where), args.join(" ")).toMatchObject({ code: 2, stderr: expect.stringContaining(`error ${says}`) });
    }
  });
});

describe("stepfold doctor", () => {
  it("tells whether the feed of a config is heard", async () => {
    const where = place();
    await cli(["run", "ask", "--id", "one"], where);
    for (const [change, code, says] of [
      ["", 0, "✔ memory feed hears its own notices"],
      ["publish: async () => undefined", 1, "✖ the memory feed does not deliver a process its own notices"],
      ["listen: () => Promise.reject(new RangeError('no route'))", 1, "✖ the feed cannot be heard: no route"],
    ] as const) {
      const config = join(where.cwd, `feed-${code}-${change.length}.config.ts`);
      writeFileSync(
        config,
        `import { memoryFeed } from "${import.meta.resolve("stepfold/feeds/memory")}";\nexport default { feed: () => ({ ...memoryFeed(), ${change} }) };\n`,
      );
      expect(await cli(["doctor", "--quick", "--config", config], where)).toMatchObject({ code, stdout: expect.stringContaining(says) });
    }
  });

  it("tells which executions are stuck, and why", async () => {
    const where = place();
    for (const id of ["fine", "late", "held"]) await cli(["run", "ask", "--id", id], where);
    const db = new DatabaseSync(join(where.cwd, ".stepfold/dev.db"));
    const longAgo = Date.now() - 3_600_000;
    db.exec(`UPDATE executions SET status = 'active', wake_at = ${longAgo}, due_at = ${longAgo} WHERE id = 'late'`);
    db.exec(`UPDATE executions SET status = 'active', owner = 'worker-7', due_at = ${longAgo} WHERE id = 'held'`);
    db.close();
    const { code, stdout } = await cli(["doctor", "--quick"], where);
    expect(code).toBe(1);
    expect(stdout).toContain("✖ late has been due for 1 h, and nobody has taken it: does a worker run?");
    expect(stdout).toMatch(/✖ held is held by worker-7, whose lease ended 1 h ago, and nobody has taken it over/);
    expect(stdout).toContain("✖ 2 active, 1 paused; 2 are stuck");
    expect(jsonLines((await cli(["doctor", "--quick", "--json"], where)).stdout)).toMatchObject([{ type: "executions", found: 2 }]);
  });
});
