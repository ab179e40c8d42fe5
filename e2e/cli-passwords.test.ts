import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, newFolder } from "./cli.ts";

const commands: readonly (readonly string[])[] = [
  ["run", "one.json"],
  ["resume", "a"],
  ["signal", "a", "go"],
  ["cancel", "a"],
  ["retry", "a"],
  ["meta", "a", "k=v"],
  ["restart", "a"],
  ["restart", "a", "--dry-run"],
  ["fork", "a"],
  ["ls"],
  ["ls", "--count"],
  ["show", "a"],
  ["migrate"],
  ["migrate", "--print-sql"],
  ["doctor", "--quick"],
  ["prune", "--older-than", "1d"],
  ["worker"],
  ["workers"],
  ["dlq", "ls"],
  ["dlq", "retry"],
  ["bulk", "cancel", "--status", "paused"],
  ["schedule", "ls"],
  ["schedule", "show", "s"],
  ["schedule", "add", "s", "one", "--cron", "0 0 * * *"],
  ["schedule", "pause", "s"],
];

/** What a shell or an `.env` file makes of `STEPFOLD_STORE="postgres://…"`, and slips of the hand. */
const urls = [
  '"postgres://u:hunter2@127.0.0.1:1/x"',
  "//u:hunter2@h/x",
  " \tpostgres://u:hunter2@127.0.0.1:port/x",
  "oracle:u:hunter2@h/x",
];

describe("A17: the password of a URL that is wrong", () => {
  it.each(
    commands.map((args, i) => [args.join(" "), args, urls[i % urls.length]!, urls[(i + 1) % urls.length]!] as const),
  )("is not printed by stepfold %s", async (_, args, byFlag, byVariable) => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "one.json"), '{"id":"one","nodes":[{"id":"a","type":"noop"}],"edges":[]}');
    const runs = [cli([...args, "--store", byFlag], { cwd }), cli(args, { cwd, env: { STEPFOLD_STORE: byVariable, STEPFOLD_DEBUG: "1" } })];
    for (const { code, stdout, stderr } of await Promise.all(runs)) {
      expect({ code, out: stdout + stderr }).toEqual({
        code: expect.any(Number),
        out: expect.stringMatching(/error (DATABASE_UNUSABLE|USAGE)/),
      });
      expect(code).not.toBe(0);
      expect(stdout + stderr).not.toContain("hunter2");
    }
  });

  it("is not printed with an argument in the wrong place either", async () => {
    const cwd = newFolder();
    const url = "postgres://u:hunter2@h/x";
    const slips = [["ls", `--stroe=${url}`], [url], ["run", url], ["show", url], ["ls", "--limit", url], ["run", "x", "--config", url]];
    for (const args of [...slips, ...slips.map((slip) => [...slip, "--json"])]) {
      const { code, stdout, stderr } = await cli(args, { cwd });
      expect(code).not.toBe(0);
      expect(stdout + stderr).not.toContain("hunter2");
    }
  });

  it("does not matter with blanks around a right one", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "one.json"), '{"id":"one","nodes":[{"id":"a","type":"noop"}],"edges":[]}');
    expect(await cli(["run", "one.json", "--id", "a"], { cwd, env: { STEPFOLD_STORE: " app.db\n" } })).toMatchObject({ code: 0 });
    expect((await cli(["ls", "--store", "\tsqlite:app.db "], { cwd })).stdout).toMatch(/^a +completed/m);
  });
});
