import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(script: string, ...args: string[]): ChildProcess {
  const file = join(import.meta.dirname, script);
  return spawn(process.execPath, ["--no-warnings", file, ...args], { stdio: ["ignore", "pipe", "pipe"] });
}

/** Returns everything that a process prints, when it has ended. */
function output(child: ChildProcess): Promise<string> {
  let out = "";
  let errors = "";
  child.stdout?.on("data", (chunk) => (out += chunk));
  child.stderr?.on("data", (chunk) => (errors += chunk));
  return new Promise((resolve, reject) => {
    child.on("close", (code) => (code ? reject(new TypeError(errors)) : resolve(out)));
  });
}

describe("an SQLite file shared by processes", () => {
  it("four that open, create, claim and commit at once lose nothing and do nothing twice", { timeout: 60_000 }, async () => {
    const path = join(folder, "race.db");
    const names = ["p1", "p2", "p3", "p4"];
    const texts = await Promise.all(names.map((name) => output(start("race-process.mjs", path, name, "20", "12"))));
    const reports = texts.map((text) => JSON.parse(text) as { created: string[]; committed: string[] });

    const created = reports.flatMap((report) => report.created);
    expect(created.length).toBe(20);
    expect(new Set(created).size).toBe(20);

    const store = sqliteStore(path);
    const acknowledged = new Set(reports.flatMap(({ committed }) => committed));
    expect(acknowledged.size).toBe(20 * 12);
    for (let index = 0; index < 20; index++) {
      expect(await store.load(`id-${index}`)).toMatchObject({ status: "completed", version: 12 });
      const rows = await store.events(`id-${index}`, 0, 100);
      expect(rows.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      for (const { commitId } of rows) expect(acknowledged.delete(commitId)).toBe(true);
    }
    expect(acknowledged.size).toBe(0);
    await store.close();
  });

  it("keeps every acknowledged commit of a process that was killed, and no half of one", { timeout: 60_000 }, async () => {
    const path = join(folder, "killed.db");
    for (let round = 0; round < 2; round++) {
      const file = `${path}-${round}`;
      const child = start("doomed-process.mjs", file);
      let lines = 0;
      child.stdout?.on("data", (chunk: Buffer) => {
        lines += chunk.toString().split("\n").length - 1;
        if (lines > 150 + 200 * round) child.kill("SIGKILL");
      });
      const text = await output(child);
      expect(child.signalCode).toBe("SIGKILL");

      const store = sqliteStore(file);
      const acknowledged = text.split("\n").filter((line) => line.split(" ").length === 3 && text.includes(`${line}\n`));
      expect(acknowledged.length).toBeGreaterThan(150);
      for (const line of acknowledged) {
        const [id, version, commitId] = line.split(" ") as [string, string, string];
        const [row] = await store.events(id, Number(version) - 1, 1);
        expect(row?.commitId).toBe(commitId);
      }
      for (const { workflowId, version } of (await store.list()).items) {
        expect(version % 2).toBe(0);
        expect((await store.load(workflowId))?.context.step?.length).toBe(version);
      }
      await store.close();
      const db = new DatabaseSync(file);
      expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
      db.close();
    }
  });
});
