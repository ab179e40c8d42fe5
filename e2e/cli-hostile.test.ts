import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { cli, newFolder } from "./cli.ts";

const hostile = "\u001b]0;owned\u0007\u001b[2J\u009b31m\r\u202e\u200b";

/** A folder whose executions and rows hold control sequences wherever text may come from outside. */
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
  ["cancel", "w", "--reason", hostile],
  ["prune", "--before", "1d", "--dry-run"],
];

describe("F15: control sequences from definitions, rows, payloads and arguments", () => {
  it("reach no terminal, whatever is asked", async () => {
    const cwd = await hostileFolder();
    for (const command of commands) {
      const { stdout, stderr } = await cli(command, { cwd });
      expect(`${stdout}${stderr}`, command.join(" ")).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(`${stdout}${stderr}`.length, command.join(" ")).toBeGreaterThan(0);
      if (command.includes("--json")) for (const line of stdout.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
    }
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
