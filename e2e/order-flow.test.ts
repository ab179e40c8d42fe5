import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, jsonLines, newFolder, orderFlow, printedCommand, startPrinted } from "./cli.ts";

const runOrder = ["run", orderFlow.file, "--config", orderFlow.config, "--input", orderFlow.input, "--id", "order-1001"];

describe("the order flow", () => {
  it("runs to its pause, prints the command that approves it, and completes by that command", async () => {
    const cwd = newFolder();
    const first = await cli(runOrder, { cwd });
    expect(first).toMatchObject({ code: 0, stderr: "" });
    const lines = first.stdout.split("\n");
    expect(lines[0]).toBe("order-1001  order-flow");
    expect(lines[2]).toMatch(/^✖ reserve {5}attempt 1 {2}\d+ ms {2}POST http:\S+ answered with status 503 {2}retry in 0\.4 s$/);
    expect(lines[3]).toMatch(/^✖ reserve {5}attempt 2 .* retry in 0\.8 s$/);
    expect(lines[4]).toMatch(/^✔ reserve {5}attempt 3 {2}\d+ ms$/);
    expect(first.stdout).toContain("⧗ settle      waits 1.0 s\n");
    expect(first.stdout).toMatch(/✔ large {7}\d+ ms {2}→ true\n/);
    expect(first.stdout).toContain('waits for an answer: "Order 1001 of Ada: 879.41 EUR is a large order. Ship it?"');
    expect(printedCommand(first.stdout)).toMatch(
      /^ {2}(npx )?stepfold resume order-1001 --payload '\{"approved":true\}' --config \S+stepfold\.config\.ts$/,
    );
    expect(readFileSync(join(cwd, ".stepfold/.gitignore"), "utf8")).toBe("*\n");

    const again = await cli(runOrder, { cwd });
    expect(again.code).toBe(0);
    expect(again.stdout).toContain("goes on from version 9, paused");
    expect(printedCommand(again.stdout)).toBe(printedCommand(first.stdout));

    const approved = await startPrinted(printedCommand(first.stdout), { cwd }).ended;
    expect(approved.code).toBe(0);
    expect(approved.stdout).toContain('▶ approve     is answered: {"approved":true}');
    expect(approved.stdout).toMatch(/✔ delivery {4}\d+ ms {2}→ express\n/);
    expect(approved.stdout).toMatch(/✔ order-1001 completed in \d/);
    expect(approved.stdout).toContain('"total": 879.41');

    for (const repeated of [await cli(runOrder, { cwd }), await startPrinted(printedCommand(first.stdout), { cwd }).ended]) {
      expect(repeated.code).toBe(0);
      expect(repeated.stdout).toContain("✔ order-1001 completed\n");
    }
  });

  it("tells scripts everything with --json", async () => {
    const cwd = newFolder();
    const run = await cli([...runOrder, "--json", "--exit-code"], { cwd });
    expect(run).toMatchObject({ code: 3, stderr: "" });
    const told = jsonLines(run.stdout);
    expect(told.slice(0, -1).map(({ type }) => type)).toEqual(Array(10).fill("event"));
    expect(told[0]).toMatchObject({ workflowId: "order-1001", status: "active", event: { type: "started", version: 0 } });
    expect(told.at(-1)).toMatchObject({
      type: "result",
      workflowId: "order-1001",
      definition: { id: "order-flow" },
      status: "paused",
      version: 9,
      waits: [{ node: "approve", payload: { type: "approval" }, schema: { required: ["approved"] } }],
    });

    const show = jsonLines((await cli(["show", "order-1001", "--json", "--events"], { cwd })).stdout)[0]!;
    expect(show).toMatchObject({ type: "execution", status: "paused", snapshot: { version: 9 }, waits: [{ node: "approve" }] });
    expect((show.events as { version: number }[]).map(({ version }) => version)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);

    const done = jsonLines(
      (
        await cli(["resume", "order-1001", "--config", orderFlow.config, "--payload", '{"approved":false}', "--by", "ada", "--json"], {
          cwd,
        })
      ).stdout,
    );
    expect(done[0]).toMatchObject({ event: { type: "resumed", who: "ada", payload: { approved: false } } });
    expect(done.at(-1)).toMatchObject({ type: "result", status: "completed", output: { declined: "no reason given" }, waits: [] });

    const page = jsonLines((await cli(["ls", "--json"], { cwd })).stdout)[0]!;
    expect(page).toMatchObject({ type: "page", items: [{ workflowId: "order-1001", status: "completed" }], nextCursor: null });
  });

  it("leaves by auth-error when the token is refused, and fails with exit code 1", async () => {
    const cwd = newFolder();
    const run = await cli(["run", orderFlow.file, "--config", orderFlow.config, "--input", orderFlow.input], {
      cwd,
      env: { SHOP_TOKEN: "wrong" },
    });
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(/✔ reserve {5}\d+ ms {2}→ auth-error\n/);
    expect(run.stdout).toMatch(/✖ order-flow-\w{8} failed at locked-out: The shop refuses our credentials \(SHOP_REFUSED\)\n/);
  });

  it("keeps executions where --store or STEPFOLD_STORE say, and repeats the flag in its commands only", async () => {
    const cwd = newFolder();
    const args = ["run", orderFlow.file, "--config", orderFlow.config, "--input", orderFlow.input, "--id", "it's one"];
    const flagged = await cli([...args, "--store", "own data.db"], { cwd });
    expect(printedCommand(flagged.stdout)).toMatch(
      /resume 'it'\\''s one' --payload '\{"approved":true\}' --store 'own data\.db' --config \S+$/,
    );
    expect(existsSync(join(cwd, ".stepfold"))).toBe(false);
    const shown = await cli(["show", "it's one"], { cwd, env: { STEPFOLD_STORE: "own data.db" } });
    expect(shown.code).toBe(0);
    expect(printedCommand(shown.stdout)).not.toContain("--store");
    expect((await startPrinted(printedCommand(flagged.stdout), { cwd }).ended).stdout).toContain("completed");
  });
});
