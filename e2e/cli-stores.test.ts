import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Pool } from "pg";
import { afterAll, describe, expect, it, type TestContext } from "vitest";
import { serviceUrlOrSkip } from "../scripts/servers/service-url.ts";
import { cli, jsonLines, newFolder, type Place, printedCommand, startPrinted } from "./cli.ts";

const approval = '{"id":"one","nodes":[{"id":"ask","type":"approval"}],"edges":[]}';
const pools: Pool[] = [];
afterAll(() => Promise.all(pools.map((pool) => pool.end())));

/** A PostgreSQL schema of one test, which is dropped after the test. */
interface Schema {
  readonly name: string;
  /** The URL of the schema, with a password that a server without authentication ignores. */
  readonly url: string;
  readonly password: string;
  readonly pool: Pool;
}

async function newSchema({ skip, onTestFinished }: TestContext): Promise<Schema> {
  const served = await serviceUrlOrSkip("postgres");
  if (served === null) return skip();
  const name = `e2e_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const pool = new Pool({ connectionString: served, max: 2 });
  pools.push(pool);
  onTestFinished(async () => void (await pool.query(`DROP SCHEMA IF EXISTS "${name}" CASCADE`)));
  const url = new URL(served);
  url.searchParams.set("schema", name);
  if (url.password === "") url.password = "s3cret";
  return { name, url: url.href, password: url.password, pool };
}

async function doctorsSchemas(pool: Pool): Promise<number> {
  const { rows } = await pool.query("SELECT 1 FROM pg_namespace WHERE nspname LIKE 'stepfold\\_doctor\\_%'");
  return rows.length;
}

function folderWithFlow(): string {
  const cwd = newFolder();
  writeFileSync(join(cwd, "one.json"), approval);
  return cwd;
}

/**
 * Runs a command that must fail with this exit code and this text on standard error, and checks that the output holds no password,
 * stack trace or INTERNAL.
 */
async function refused(args: readonly string[], place: Place, code: number, says: RegExp): Promise<void> {
  const ended = await cli(args, place);
  expect({ args, code: ended.code, stderr: ended.stderr }).toEqual({ args, code, stderr: expect.stringMatching(says) });
  expect(ended.stdout + ended.stderr).not.toMatch(/s3cret|^ +at |INTERNAL/m);
}

describe("the command line on PostgreSQL", () => {
  it("makes tables, runs, lists, shows and resumes, by --store and by STEPFOLD_STORE", async (test) => {
    const { url } = await newSchema(test);
    const cwd = folderWithFlow();
    for (const args of [["run", "one.json", "--id", "a"], ["ls"], ["show", "a"], ["resume", "a"], ["doctor", "--quick"]]) {
      await refused([...args, "--store", url], { cwd }, 1, /^(In printed .*\n)?error STORE_REJECTED: .*stepfold migrate/);
    }
    const migrated = await cli(["migrate", "--store", url], { cwd });
    expect(migrated).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^✔ postgres:\/\/.* is up to date\n$/) });
    expect((await cli(["migrate", "--store", url, "--json"], { cwd })).stdout).toMatch(/^\{"type":"migrated","store":"postgres/);

    const run = await cli(["run", "one.json", "--id", "a", "--store", url], { cwd });
    expect(run).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, ".stepfold"))).toBe(false);
    const env = { STEPFOLD_STORE: url };
    expect((await cli(["ls"], { cwd, env })).stdout).toMatch(/^a +paused +one +ask/m);
    expect((await cli(["show", "a"], { cwd, env })).stdout).toContain("paused");
    const again = await cli(["run", "one.json", "--id", "a"], { cwd, env });
    expect(printedCommand(again.stdout)).not.toContain("--store");
    const answered = await startPrinted(printedCommand(again.stdout), { cwd, env }).ended;
    expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining("✔ a completed") });
  });

  it("prints a command that goes on, or says what it leaves out", async (test) => {
    const { url, password } = await newSchema(test);
    const cwd = folderWithFlow();
    await cli(["migrate", "--store", url], { cwd });
    const run = await cli(["run", "one.json", "--id", "a", "--store", url], { cwd });
    expect(run.stderr).toMatch(/^In printed commands \*\*\* stands for what --store keeps secret: .*STEPFOLD_STORE/);
    const command = printedCommand(run.stdout);
    expect(command).toContain(`:***@`);
    const pasted = await startPrinted(command.replace("***", password), { cwd }).ended;
    expect(pasted).toMatchObject({ code: 0, stdout: expect.stringContaining("✔ a completed") });
    await cli(["run", "one.json", "--id", "b", "--store", url], { cwd });
    const more = await cli(["ls", "--limit", "1", "--store", url], { cwd });
    expect(more.stdout).toMatch(/More: .*--store '?postgres.*\*\*\*/);
    expect(more.stderr).toMatch(/^In printed commands/);
  });

  it("never tells the password", async (test) => {
    const { url, password } = await newSchema(test);
    const cwd = folderWithFlow();
    const quick = ["doctor", "--quick"];
    const answer = ["resume", "a", "--payload", '{"approved":true}'];
    for (const verb of [
      ["ls"],
      ["migrate", "--print-sql"],
      ["migrate"],
      ["run", "one.json", "--id", "a"],
      ["show", "a"],
      ["ls"],
      quick,
      answer,
    ]) {
      for (const form of [[], ["--json"]]) {
        const { stdout, stderr } = await cli([...verb, ...form, "--store", url], { cwd, env: { STEPFOLD_DEBUG: "1" } });
        expect(stdout + stderr).not.toBe("");
        expect(stdout + stderr).not.toContain(password);
      }
    }
  });

  it("prints statements that PostgreSQL takes, one after the other and as one text", async (test) => {
    const { url, name, pool } = await newSchema(test);
    const cwd = folderWithFlow();
    const printed = await cli(["migrate", "--print-sql", "--store", url], { cwd });
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    await pool.query(printed.stdout);
    expect(await cli(["run", "one.json", "--id", "a", "--store", url], { cwd })).toMatchObject({ code: 0 });
    const [told] = jsonLines((await cli(["migrate", "--print-sql", "--json", "--store", url], { cwd })).stdout);
    expect(told).toMatchObject({ type: "migrations", store: "postgres" });
    await pool.query(`DROP SCHEMA "${name}" CASCADE`);
    for (const step of told!.steps as string[]) await pool.query(step);
    expect(await cli(["doctor", "--quick", "--store", url], { cwd })).toMatchObject({ code: 0 });
  });

  it("doctor finds every promise kept, and leaves nothing behind", async (test) => {
    const { url, pool } = await newSchema(test);
    const cwd = newFolder();
    await cli(["migrate", "--store", url], { cwd });
    const before = await doctorsSchemas(pool);
    const { code, stdout, stderr } = await cli(["doctor", "--store", url], { cwd });
    expect(stderr).toBe("");
    expect(stdout).toMatch(
      /^✔ postgres:\/\/.* answers, and can be read\n✔ no execution is open; none is stuck\n✔ postgres: \d{3} passed, 0 failed, \d+ not tried \(.*cut connections.*\)\n$/,
    );
    expect(code).toBe(0);
    expect(await doctorsSchemas(pool)).toBe(before);
    expect((await cli(["ls", "--store", url], { cwd })).stdout).toMatch(/^No executions/);
  });
});

/** Makes an execution in `app.db` that waits for another one which has gone. */
async function waitForNobody(cwd: string): Promise<void> {
  const kid = { id: "kid", nodes: [{ id: "ask", type: "approval" }], edges: [] };
  const call = { id: "call", type: "workflow", data: { workflow: "kid", detached: true, workflowId: "kid-1" } };
  const parent = { id: "parent", nodes: [call], edges: [] };
  writeFileSync(join(cwd, "family.config.mjs"), `export default { workflows: ${JSON.stringify([kid, parent])} };\n`);
  await cli(["run", "parent", "--id", "p", "--store", "app.db", "--config", "family.config.mjs"], { cwd });
  const db = new DatabaseSync(join(cwd, "app.db"));
  db.exec("DELETE FROM executions WHERE id = 'kid-1'");
  // without its first digit, the time is long ago
  db.exec(`UPDATE executions SET head = replace(head, '"openedAt":1', '"openedAt":') WHERE id = 'p'`);
  db.close();
}

describe("the command line on other stores", () => {
  it("doctor finds every promise of an SQLite file kept, a wait that nothing ends, and leaves no file behind", async () => {
    const cwd = folderWithFlow();
    await cli(["run", "one.json", "--id", "a", "--store", "app.db"], { cwd });
    const files = readdirSync(cwd);
    const quick = await cli(["doctor", "--quick", "--store", "app.db"], { cwd });
    const left = "✔ left out with --quick: waits for other executions, and the promises of the store";
    const stdoutOfQuick = `✔ app.db answers, and can be read\n✔ 1 paused; none is stuck\n${left}\n`;
    expect(quick).toEqual({ code: 0, signal: null, stdout: stdoutOfQuick, stderr: "" });
    expect(readdirSync(cwd)).toEqual(files);
    await waitForNobody(cwd);
    const { code, stdout } = await cli(["doctor", "--json", "--store", "sqlite:app.db"], { cwd });
    const lines = jsonLines(stdout);
    const sentence = "waits at call for kid-1, which does not exist; stepfold cancel p and then stepfold restart p let it go on";
    expect(lines).toEqual([
      { type: "executions", counts: expect.objectContaining({ paused: 2 }), found: 0, findings: [], isPartial: false },
      { type: "waits", count: 1, findings: [{ workflowId: "p", sentence }], isPartial: false },
      { type: "examination", store: "sqlite", passed: expect.any(Number), failed: [], notClaimed: expect.any(Number) },
    ]);
    expect(lines[2]!.passed).toBeGreaterThan(150);
    expect(code).toBe(1);
    expect(readdirSync(cwd)).toEqual([...files, "family.config.mjs"].sort());
    expect((await cli(["ls", "--store", "app.db"], { cwd })).stdout).toMatch(/^a +paused/m);
  });

  it("migrate prints statements that SQLite takes, and says where there are none", async () => {
    const cwd = folderWithFlow();
    for (const [url, file] of [["sqlite://hand.db", "hand.db"] as const, ["libsql:file:hand2.db", "hand2.db"] as const]) {
      const { stdout } = await cli(["migrate", "--print-sql", "--store", url], { cwd });
      const db = new DatabaseSync(join(cwd, file));
      db.exec(stdout);
      db.close();
      expect(await cli(["run", "one.json", "--id", "a", "--store", url], { cwd })).toMatchObject({ code: 0 });
      expect(readdirSync(cwd)).toContain(file);
    }
    expect(await cli(["migrate", "--print-sql", "--store", "memory:"], { cwd })).toMatchObject({
      code: 0,
      stdout: "-- memory has no tables to make\n",
    });
  });

  it("doctor does not try anything where it would lie among executions", async () => {
    const cwd = folderWithFlow();
    expect(await cli(["doctor", "--quick", "--store", "libsql:file:app.db"], { cwd })).toMatchObject({ code: 0 });
    await refused(["doctor", "--store", "libsql:file:app.db"], { cwd }, 2, /The contract cannot be tried .*--quick/s);
  });

  it("tells of a store that is away, or that is none, without its password", async () => {
    const cwd = folderWithFlow();
    const away = "postgres://ada:s3cret@127.0.0.1:1/app";
    for (const verb of ["doctor", "ls", "migrate"])
      await refused([verb, "--store", away], { cwd }, 1, /^(In printed .*\n)?error STORE_UNAVAILABLE: .*ECONNREFUSED/);
    const { code, stdout } = await cli(["doctor", "--json", "--store", away], { cwd });
    expect(code).toBe(1);
    expect(jsonLines(stdout)).toMatchObject([{ type: "error", error: { code: "STORE_UNAVAILABLE" } }]);
    expect(stdout).not.toContain("s3cret");

    for (const [url, says] of [
      ["oracle://ada:s3cret@db/app", /oracle:\/\/ada:\*\*\*@db\/app cannot be used: .*The schemes are: memory, sqlite/],
      ["postgres://ada:s3/cret@db/app", /is not a valid URL/],
      ["mysql://ada:s3cret@db/app?pool=abc", /"pool"/],
      ["upstash:https://db", /no token/],
    ] as const) {
      for (const args of [["doctor"], ["ls"], ["migrate"], ["migrate", "--print-sql"]]) {
        await refused(
          [...args, "--store", url],
          { cwd, env: { STEPFOLD_DEBUG: "" } },
          2,
          new RegExp(`^error DATABASE_UNUSABLE: .*${says.source}`),
        );
      }
    }
  });

  it("shows no password in a stack either", async () => {
    for (const url of [
      "postgres://ada:s3/cret@db/app",
      "mongodb://ada:s3cret@db/app?retryReads=maybe",
      "postgres://ada:s3cret@127.0.0.1:1/app",
    ]) {
      const { stdout, stderr } = await cli(["ls", "--json", "--store", url], { cwd: newFolder(), env: { STEPFOLD_DEBUG: "1" } });
      expect(stdout + stderr).not.toMatch(/s3|cret@/);
    }
  });
});
