import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineNode } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { describe, expect, it } from "vitest";
import { cli, type Ended, jsonLines, newFolder, type Place, printedCommand, startPrinted } from "./cli.ts";

const approve = (data: object): object => ({ id: "review", nodes: [{ id: "approve", type: "approval", data }], edges: [] });
const team = {
  id: "team",
  name: "Team review",
  nodes: [
    { id: "start", type: "noop" },
    { id: "each", type: "map", data: { workflow: "review", items: "{{ input.posts }}" } },
    {
      id: "settle",
      type: "race",
      data: { signals: [{ name: "paid", key: "{{ input.order }}" }, { name: "revoked" }], timer: { for: "1 day" } },
    },
    { id: "sign", type: "approval", data: { title: "Sign it?", responders: ["ada", "bob", "cy"], quorum: 2, timeout: "2h" } },
    { id: "done", type: "noop", join: "all" },
  ],
  edges: [
    ...["each", "settle", "sign"].map((target) => ({ source: "start", target })),
    { source: "each", target: "done" },
    ...["paid", "revoked", "timer"].map((sourceHandle) => ({ source: "settle", target: "done", sourceHandle })),
    { source: "sign", target: "done", sourceHandle: "approved" },
  ],
  workflows: { review: approve({ title: "Post {{ input }}" }) },
};
const input = '{"posts":["a","b"],"order":"o-7"}';

async function started(): Promise<{ place: Place; run: Ended; say: (...args: string[]) => Promise<Ended> }> {
  const place = { cwd: newFolder() };
  writeFileSync(join(place.cwd, "team.json"), JSON.stringify(team));
  const run = await cli(["run", "team.json", "--input", input, "--id", "t"], place);
  return { place, run, say: (...args) => cli(args, place) };
}

const commandsIn = (text: string): string[] => text.split("\n").filter((line) => /^ +(?:npx )?stepfold /.test(line));

describe("an execution that waits for many things", () => {
  it("tells after a run where it stands, and the command for each of its waits", async () => {
    const { run } = await started();
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(run.stdout).toMatch(/^⏸ settle +waits for the signal "paid" with the key "o-7" or the signal "revoked", at most (?:24 h|1 d)$/m);
    expect(run.stdout).toMatch(/^⏸ each\[1\]\/approve {2}waits for an answer: "Post b"$/m);
    expect(run.stdout).toContain("⏸ t is paused: 4 places are open: 3 wait for an answer, 1 waits for a signal.\n");
    expect(commandsIn(run.stdout).map((line) => line.replace(/^ +(npx )?/, ""))).toEqual([
      "stepfold signal t paid --key o-7",
      "stepfold signal t revoked",
      `stepfold resume t --step sign --payload '{"approved":true}' --by ada`,
      `stepfold resume t --step 'each[0]/approve' --payload '{"approved":true}'`,
      `stepfold resume t --step 'each[1]/approve' --payload '{"approved":true}'`,
    ]);
  });

  it("is found by what it waits for, until that is answered", async () => {
    const { say } = await started();
    const found = async (...asked: string[]): Promise<boolean> => (await say("ls", "--waiting", ...asked)).stdout.includes("\nt ");
    expect(await found()).toBe(true);
    expect([await found("responder=ada"), await found("responder=eve")]).toEqual([true, false]);
    expect([await found("signal=paid", "key=o-7"), await found("signal=paid", "key=o-8")]).toEqual([true, false]);
    expect([await found("kind=external", "node=approve"), await found("kind=signal", "node=approve")]).toEqual([true, false]);
    expect([await found("opened-before=1h"), await found("opened-after=1h")]).toEqual([false, true]);
    await say("resume", "t", "--step", "sign", "--payload", '{"approved":true}', "--by", "ada");
    expect([await found("responder=ada"), await found("responder=bob")]).toEqual([false, true]);
    const [page] = jsonLines((await say("ls", "--waiting", "responder=bob", "--json")).stdout) as { items: { waits: object[] }[] }[];
    expect(page!.items[0]!.waits).toContainEqual({
      kind: "external",
      nodeId: "sign",
      responders: ["bob", "cy"],
      openedAt: expect.any(Number),
    });
    const refused = await Promise.all([
      say("ls", "--waiting", "who=ada"),
      say("ls", "--waiting", "kind=approval"),
      say("ls", "--waiting", "ada"),
      say("ls", "--waiting", "opened-before=2"),
      say("ls", "--waiting", "opened-before=2d", "opened-before=3d"),
    ]);
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2]);
    expect(refused.map(({ stderr }) => stderr).join()).toMatch(/field=value.*no kind of wait "approval".*field=value/s);
  });

  it("shows every place, since when, who can move it, by when, and what happens then", async () => {
    const { say } = await started();
    const { stdout } = await say("show", "t");
    expect(stdout).toMatch(/^t {2}paused {2}Team review {2}version 6\n/);
    expect(stdout).toContain("\n4 places are open: 3 wait for an answer, 1 waits for a signal.\n");
    expect(stdout).toMatch(/^ {2}⑂ each +suspended for [\d.]+ s {2}has 0 of 2 items done, 2 wait for an answer$/m);
    expect(stdout).toMatch(/^ {2}⏸ sign .* waits for 2 answers .* from ada, bob or cy, until \S+Z \(in 2 h\), and then fails$/m);
    expect(stdout).toMatch(/^ {6}"Sign it\?"\n {6}(?:npx )?stepfold resume t --step sign .* --by ada$/m);
    expect(stdout).toMatch(/\nNext\n {2}At \S+Z \(in 2 h\) sign times out, and fails\.\n/);
    expect((await say("ls")).stdout).toMatch(/^t +paused +team +each +3 answers, 2 signals +/m);

    const [shown] = jsonLines((await say("show", "t", "--json")).stdout);
    expect(shown).toMatchObject({
      type: "execution",
      sentence: "4 places are open: 3 wait for an answer, 1 waits for a signal.",
      explanation: {
        places: [{ address: "each" }, { address: "each[0]/approve" }, {}, { address: "settle" }, { address: "sign" }],
        more: 0,
      },
      waits: [
        { node: "settle", kind: "signal", signal: "paid", key: "o-7", command: expect.stringMatching(/signal t paid --key o-7$/) },
        { signal: "revoked" },
        { kind: "timer", command: null },
        { node: "sign", responders: ["ada", "bob", "cy"], answered: [], missing: 2 },
        { node: "approve", address: "each[0]/approve", payload: { title: "Post a" } },
        { address: "each[1]/approve" },
      ],
    });
  });

  it("goes to its end by the commands that it prints, one after the other", async () => {
    const { place, run, say } = await started();
    let said = run.stdout;
    for (let steps = 0; !said.includes("t completed") && steps < 10; steps++) {
      const next = await startPrinted(printedCommand(said), place).ended;
      expect({ code: next.code, stderr: next.stderr }).toEqual({ code: 0, stderr: "" });
      said = next.stdout;
    }
    expect(said).toContain("✔ t completed");
    const { stdout } = await say("show", "t", "--events");
    for (const line of [
      /▶ each\[1\]\/approve {2}is answered: \{"approved":true\}\n/,
      /✔ each +goes on with 2 items\n/,
      /▶ sign +is answered by ada: /,
      /▶ sign +is answered by bob: /,
      /▶ settle +takes the signal "revoked"\n/,
    ])
      expect(stdout).toMatch(line);
    expect((await say("show", "t")).stdout).toMatch(/✔ each\[…\]\/approve {2}2 times /);
  });

  it("takes an answer from standard input, and the same answer of the same person once", async () => {
    const { place, say } = await started();
    const piped = `echo '{"approved":true}' | stepfold resume t --step sign --payload - --by ada`;
    const script = piped.replace("stepfold", '"$STEPFOLD_NODE" "$STEPFOLD_BIN"');
    const first = await startPrinted(script, place).ended;
    expect(first.stdout).toMatch(/^▶ sign +is answered by ada: \{"approved":true\}$/m);
    expect(first.stdout).toContain('sign  1 more answer with "approved": true from bob or cy (ada has answered)');
    const again = await say("resume", "t", "--step", "sign", "--payload", '{"approved":true}', "--by", "ada");
    expect(again).toMatchObject({ code: 0, stderr: "This answer was given before; going on\n" });
    const item = ["resume", "t", "--step", "each[0]/approve", "--payload", '{"approved":true}'];
    expect((await say(...item)).stdout).toContain("✔ each[0]/approve");
    expect(await say(...item)).toMatchObject({ code: 0, stderr: "This answer was given before; going on\n" });
    const other = await say("resume", "t", "--step", "each[0]/approve", "--payload", '{"approved":false}');
    expect(other).toMatchObject({ code: 2, stdout: "" });
    expect(other.stderr).toMatch(/^error WAIT_GONE: /);
  });
});

describe("an execution with a deadline", () => {
  it("says by when it must have ended, and fails when somebody drives it after that", async () => {
    const place = { cwd: newFolder() };
    const say = (...args: string[]): Promise<Ended> => cli(args, place);
    writeFileSync(join(place.cwd, "review.json"), JSON.stringify({ ...approve({}), timeout: "1h" }));
    const started = ["run", "review.json", "--id", "r", "--timeout", "3s", "--deadline", "2999-01-01T00:00:00Z"];
    for (const deadline of ["soon", "2999-01-01T00:00", "2999-02-29T00:00:00Z"])
      expect(await say("run", "review.json", "--deadline", deadline)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('"deadline"'),
      });
    expect(await say("run", "review.json", "--timeout", "soon")).toMatchObject({ code: 2 });
    expect(await say(...started)).toMatchObject({ code: 0 });
    const { snapshot } = JSON.parse((await say("show", "r", "--json")).stdout) as { snapshot: { createdAt: number; deadlineAt: number } };
    expect(snapshot.deadlineAt - snapshot.createdAt).toBe(3_000);
    expect((await say("show", "r")).stdout).toMatch(/approve waits for an answer\. It fails if it has not ended by .*\./);
    expect((await say("ls")).stdout).toMatch(/an answer, must (end in|have ended)/);
    await new Promise((resolve) => setTimeout(resolve, snapshot.deadlineAt - Date.now() + 10));
    const late = await say(...started);
    expect(late.code).toBe(1);
    expect(late.stdout).toMatch(/✖ deadline +did not end in time/);
    expect((await say("show", "r")).stdout).toContain('Execution "r" had to end by');
  });
});

describe("a command in a folder without the config", () => {
  it("USE 10: tells the execution, runs nothing that it has no code for, and leaves the rest to a worker", async () => {
    const place = { cwd: newFolder() };
    const nodes = [
      { id: "ask", type: "signal", data: { name: "go" } },
      { id: "own", type: "own" },
    ];
    const workflow = { id: "own", nodes, edges: [{ source: "ask", target: "own" }] };
    const store = sqliteStore(join(place.cwd, "app.db"));
    const own = defineNode({ executor: () => ({ data: "own" }) });
    const runtime = createRuntime({
      store,
      nodeDefinitions: { ...builtinNodes, own },
      workflows: [workflow as never],
      globals: {} as never,
    });
    const run = await runtime.start("own", { workflowId: "k" });
    await run.waitFor("paused");
    await runtime.close();
    const [shown] = jsonLines((await cli(["show", "k", "--store", "app.db", "--json"], place)).stdout);
    const [{ command }] = shown!.waits as [{ command: string }];
    expect(await startPrinted(command, place).ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("k is active: ask is ready to go on"),
      stderr: "This process lacks the node type own, so it runs no steps; a worker that has it goes on\n",
    });
    expect(await store.loadHead("k")).toMatchObject({ status: "active" });
    await store.close();
  });
});
