import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { cli, newFolder, startCli } from "./cli.ts";

const hostile = "\u001b]0;owned\u0007\u001b[2J\u009b31m\r\u202e\u200b";

/** Makes a folder whose executions and rows hold control sequences in every field that can hold text from outside. */
async function hostileFolder(): Promise<string> {
  const cwd = newFolder();
  mkdirSync(join(cwd, ".stepfold"));
  const workflow = {
    id: "w",
    nodes: [
      { id: "ask", type: "approval", data: { message: `Really? ${hostile}`, responders: [`ada${hostile}`, "bob"] } },
      { id: "wait", type: "signal", data: { name: `go${hostile}`, key: hostile } },
      { id: "fails", type: "fail", data: { message: `no ${hostile}` } },
    ],
    edges: [{ source: "ask", target: "fails", sourceHandle: "approved" }],
    start: "ask",
  };
  const also = { ...workflow, id: "v", start: "wait", edges: [{ source: "wait", target: "fails" }] };
  for (const one of [workflow, also]) {
    writeFileSync(join(cwd, `${one.id}.json`), JSON.stringify(one));
    await cli(["run", `${one.id}.json`, "--id", one.id], { cwd });
  }
  writeFileSync(join(cwd, "broken.json"), JSON.stringify({ ...workflow, [`nodez${hostile}`]: 1, nodes: [{ id: hostile, type: hostile }] }));
  const db = new DatabaseSync(join(cwd, ".stepfold/dev.db"));
  db.prepare("UPDATE executions SET definition_id = ?, head = replace(head, '\"ask\"', ?) WHERE id = 'w'").run(
    `w${hostile}`,
    JSON.stringify(`ask${hostile}`),
  );
  db.close();
  return cwd;
}

const commands: readonly (readonly string[])[] = [
  ["ls"],
  ["ls", "--json"],
  ["ls", "--waiting"],
  ["ls", "--waiting", hostile],
  ["ls", "--waiting", `kind=${hostile}`],
  ["ls", "--waiting", `responder=ada${hostile}`],
  ["ls", "--waiting", `opened-before=${hostile}`],
  ["ls", "--meta", `k${hostile}>=${hostile}`, `k${hostile}<${hostile}`],
  ["ls", "--meta", `k${hostile}>1`, `k${hostile}>${hostile}`],
  ["ls", "--meta", hostile],
  ["show", "w"],
  ["show", "v"],
  ["show", "v", "--events"],
  ["show", "v", "--json", "--events"],
  ["resume", "w", "--payload", '{"approved":true}', "--by", hostile],
  ["resume", "v", "--step", hostile],
  ["retry", "v"],
  ["doctor"],
  ["dlq", "ls"],
  ["validate", "broken.json"],
  ["validate", "broken.json", "--json"],
  ["run", "v.json", "--id", "v"],
  ["run", hostile],
  ["show", hostile],
  ["signal", "v", `go${hostile}`, "--key", hostile, "--payload", JSON.stringify({ a: hostile })],
  ["meta", "v", `k${hostile}=${hostile}`],
  ["cancel", "w", "--reason", hostile],
  ["replay"],
  ["replay", hostile],
  ["replay", "v", "--config", hostile],
  ["prune", "--before", "1d", "--dry-run"],
  ["prune", "--before", hostile],
  ["migrate"],
  ["migrate", "--store", hostile],
  ["worker", "--concurrency", hostile],
  ["workers"],
  ["workers", "--store", hostile],
  ["worker", "--config", hostile],
  // files of these names do not exist; "migrate" has made one that is called like the sequence alone, and with that the commands would serve
  ["dev", `${hostile}.json`],
  ["dev", "--port", hostile],
  ["dev", "--token", hostile],
  ["dev", "--config", `${hostile}.ts`],
  ["dev", "--host", hostile],
  ["studio", "--store", `${hostile}.db`],
  ["studio", "--port", hostile],
  ["dlq", "retry", hostile],
  ["dlq", hostile],
  ["restart", hostile],
  ["restart", "v"],
  ["restart", "v", "--compensated", hostile],
  ["fork", "v", "--dry-run"],
  ["fork", "v", "--dry-run", "--json"],
  ["fork", "v", "--node", hostile],
  ["fork", "v", "--definition", hostile],
  ["fork", hostile, "--id", hostile],
  ["schedule", "ls"],
  ["schedule", "show", hostile],
  ["schedule", "add", hostile, "v", "--cron", "0 3 * * *"],
  ["schedule", "add", "s", "v", "--cron", hostile],
  ["schedule", "pause", hostile],
  ["bulk", "cancel", "--all"],
  ["bulk", "cancel", "--id-prefix", hostile],
  ["bulk", "signal", hostile, "--all"],
  ["bulk", "fork", hostile, "--all"],
  ["bulk", "incidents", hostile, "--all"],
  ["doctor", "--quick"],
  ["ls", "--status", hostile],
  ["ls", "--cursor", hostile],
  ["run", "v.json", "--input", hostile],
  ["run", "v.json", "--input", `{"${hostile}`],
  [hostile],
  ["show", "v", `--${hostile}`],
];

describe("F15: control sequences from definitions, rows, payloads and arguments", () => {
  // seventy processes, one after the other
  it("reach no terminal, whatever is asked", { timeout: 300_000 }, async () => {
    const cwd = await hostileFolder();
    for (const command of commands) {
      const { stdout, stderr } = await cli(command, { cwd });
      expect(`${stdout}${stderr}`, command.join(" ")).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(`${stdout}${stderr}`.length, command.join(" ")).toBeGreaterThan(0);
      if (command.includes("--json")) for (const line of stdout.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
    }
  });

  it("are not shown by a worker, whether it tells of a step or of a trouble", async () => {
    const cwd = await hostileFolder();
    const config = (thrown: string): string =>
      `export default { nodeDefinitions: { bad: { executor() { throw new Error(${JSON.stringify(`no ${hostile}`)}); } } }, ${thrown} };`;
    writeFileSync(join(cwd, "stepfold.config.mjs"), config(""));
    const flow = {
      id: "x",
      nodes: [{ id: "bad", type: "bad", retryPolicy: { maxAttempts: 2, backoff: "fixed", interval: "1s" } }],
      edges: [],
    };
    writeFileSync(join(cwd, "x.json"), JSON.stringify(flow));
    const run = startCli(["run", "x.json", "--id", `x${"\u00e9"}`], { cwd });
    await run.saw("retry in");
    run.child.kill("SIGKILL");
    await run.ended;
    const worker = startCli(["worker"], { cwd, env: { STEPFOLD_LEASE_MS: "300" } });
    await worker.saw("✖ bad");
    worker.child.kill("SIGTERM");
    const { stdout, stderr } = await worker.ended;
    expect(`${stdout}${stderr}`).toContain("✖ bad: no");
    expect(`${stdout}${stderr}`).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    writeFileSync(join(cwd, "stepfold.config.mjs"), config(`get globals() { throw new Error(${JSON.stringify(hostile)}); }`));
    const broken = await cli(["worker"], { cwd, env: { STEPFOLD_DEBUG: "1" } });
    expect(broken.code).not.toBe(0);
    expect(`${broken.stdout}${broken.stderr}`).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
  });

  it("tries every command that there is", async () => {
    const { stdout } = await cli(["--help"], { cwd: newFolder() });
    const verbs = Array.from(stdout.slice(stdout.indexOf("Commands:")).matchAll(/^ {2}([a-z]+)/gm), ([, verb]) => verb!);
    expect(verbs.length).toBeGreaterThan(10);
    expect(verbs.filter((verb) => verb !== "help" && !commands.some(([first]) => first === verb))).toEqual([]);
  });

  it("are still the same argument in the command that is printed", async () => {
    const cwd = await hostileFolder();
    const { stdout } = await cli(["show", "v"], { cwd });
    const printed = stdout.split("\n").find((line) => line.includes("signal v"))!;
    const words = execFileSync("bash", ["-c", `printf '%s\\0' ${printed.trim().replace(/^(?:npx )?stepfold /, "")}`], {
      env: { ...process.env, LC_ALL: "C.UTF-8" },
      encoding: "utf8",
    }).split("\0");
    expect(words.slice(0, 5)).toEqual(["signal", "v", `go${hostile}`, "--key", hostile]);
  });
});
