import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Queue } from "bullmq";
import { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../scripts/servers/service-url.ts";
import { newFolder, root, start } from "./cli.ts";

const main = join(root, "examples/scale-out/main.ts");
const invoices = 200;

/** Returns the processes that sent letters, and the keys of the letters. */
function lettersIn(folder: string): { readonly processes: ReadonlySet<string>; readonly keys: readonly string[] } {
  const lines = readFileSync(join(folder, "letters.log"), "utf8").trim().split("\n");
  return { processes: new Set(lines.map((line) => line.split(" ")[0]!)), keys: lines.map((line) => line.split(" ")[1]!) };
}

describe("the example scale-out", () => {
  it("files all invoices in one process on SQLite", async () => {
    const cwd = newFolder();
    const { code, stdout, stderr } = await start(process.execPath, [main, "start", "40"], { cwd }).ended;
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "40 done, the last: invoice 40 is filed\n", stderr: "" });
    const { processes, keys } = lettersIn(cwd);
    expect([processes.size, keys.length, new Set(keys).size]).toEqual([1, 40, 40]);
  });

  it("files them in several processes on PostgreSQL and BullMQ, each letter sent once", async ({ skip, onTestFinished }) => {
    const [database, redis] = [await serviceUrlOrSkip("postgres"), await serviceUrlOrSkip("redis")];
    if (database === null || redis === null) return skip();
    const schema = `e2e_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
    const pool = new Pool({ connectionString: database, max: 1 });
    const jobs = new Queue(schema, { connection: { url: redis, maxRetriesPerRequest: null } });
    onTestFinished(async () => {
      await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await pool.end();
      await jobs.obliterate({ force: true });
      await jobs.close();
    });
    const cwd = newFolder();
    const place = { cwd, env: { DATABASE_URL: database, REDIS_URL: redis, STEPFOLD_SCHEMA: schema } };
    const workers = [0, 1].map(() => start(process.execPath, [main, "work"], place));
    await Promise.all(workers.map((worker) => worker.saw("working")));
    const { code, stdout, stderr } = await start(process.execPath, [main, "start", String(invoices)], place).ended;
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${invoices} done, the last: invoice ${invoices} is filed\n`, stderr: "" });
    for (const { child, ended } of workers) {
      child.kill("SIGTERM");
      expect(await ended).toMatchObject({ code: 0, stderr: "" });
    }
    const { processes, keys } = lettersIn(cwd);
    expect([processes.size, keys.length, new Set(keys).size]).toEqual([3, invoices, invoices]);
  });
});
