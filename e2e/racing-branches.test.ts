import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SnapshotStore } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { branchNodes, type Message, twoBranches } from "./racing-branches-nodes.ts";

const { races: rounds } = effort;
const script = new URL("./racing-branches.ts", import.meta.url);
const ids = Array.from({ length: rounds }, (_, i) => `round-${i}`);

let folder = "";
const racers: Racer[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stepfold-branches-"));
});

afterEach(() => {
  for (const { child } of racers.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** One of the two racing processes, and its messages. */
class Racer {
  readonly child: ChildProcess;
  readonly #heard = new Map<string, Message>();
  readonly #awaited = new Map<string, (message: Message) => void>();
  #fail: (error: Error) => void = () => undefined;
  readonly #failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  constructor(name: string) {
    this.child = fork(script, [databasePath(), logPath(name)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.#failed.catch(() => undefined);
    this.child.once("exit", (code) => this.#fail(new Error(`racer ${name} ended with code ${code}`)));
    this.child.on("message", (message: Message) => {
      const key = `${message.type} ${message.workflowId}`;
      this.#heard.set(key, message);
      this.#awaited.get(key)?.(message);
    });
  }

  tell(message: Message): void {
    this.child.send(message);
  }

  /** Resolves with the verdict of a message about an execution, also if the message has arrived before. */
  async hears(type: Message["type"], workflowId = ""): Promise<string> {
    const key = `${type} ${workflowId}`;
    const said =
      this.#heard.get(key) ?? (await Promise.race([this.#failed, new Promise<Message>((resolve) => this.#awaited.set(key, resolve))]));
    return said.verdict ?? "";
  }
}

const databasePath = (): string => join(folder, "race.db");
const logPath = (name: string): string => join(folder, `${name}.log`);

async function twoRacers(): Promise<readonly [Racer, Racer]> {
  const pair = [new Racer("one"), new Racer("two")] as const;
  racers.push(...pair);
  await Promise.all(pair.map((racer) => racer.hears("ready")));
  return pair;
}

/**
 * Lets both processes commit, when both have decided on the same version. Exactly one commit is the first, and the other process loses
 * no work.
 */
async function commitBoth(pair: readonly [Racer, Racer], workflowId: string): Promise<string[]> {
  await Promise.all(pair.map((racer) => racer.hears("decided", workflowId)));
  // each process is told first in every second round
  for (const racer of ids.indexOf(workflowId) % 2 ? pair : pair.toReversed()) racer.tell({ type: "go", workflowId });
  return (await Promise.all(pair.map((racer) => racer.hears("committed", workflowId)))).sort();
}

/** Returns the facts of one execution that differ from the expected ones; empty if there are none. */
async function oddities(store: SnapshotStore, workflowId: string, left: string): Promise<unknown[]> {
  const events = (await store.events(workflowId, -1, 100)).map(({ event }) => event);
  const completed = events.flatMap((event) => (event.type === "completed" ? [event.nodeId] : []));
  const { status, context = {}, activePaths } = (await store.load(workflowId)) ?? {};
  const given = Object.entries(context).map(([nodeId, results]) => [nodeId, results.map(({ output }) => output)]);
  const found = [status, activePaths, Object.fromEntries(given), completed.toSorted(), events.map(({ version }) => version)];
  const both = [left, "answer to right"];
  const expected = [
    "completed",
    [],
    { fork: [null], left: [left], right: ["answer to right"], join: [both], after: [null] },
    ["after", "fork", "join", "left", "right"],
    events.map((_event, version) => version),
  ];
  return JSON.stringify(sorted(found)) === JSON.stringify(sorted(expected)) ? [] : [workflowId, found];
}

function sorted([status, paths, given, ...rest]: unknown[]): unknown[] {
  return [status, paths, Object.entries(given as object).sort(([a], [b]) => (a < b ? -1 : 1)), ...rest];
}

/** Returns every run of an executor, in all processes. */
function runs(): string[] {
  const logs = readdirSync(folder).filter((name) => name.endsWith(".log"));
  return logs.flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n")).sort();
}

/** Waits until all executions have ended, and returns the oddities of all of them. */
async function allOddities(left: string): Promise<unknown[]> {
  const store = sqliteStore(databasePath());
  const runtime = createRuntime({ store, nodeDefinitions: branchNodes(logPath("reader")), drive: false, pollMs: 20 });
  const odd: unknown[] = [];
  for (const id of ids) {
    await (await runtime.get(id)).result();
    odd.push(...(await oddities(store, id, left)));
  }
  await runtime.close();
  await store.close();
  return odd;
}

async function startAll(): Promise<void> {
  const store = sqliteStore(databasePath(), { synchronous: "NORMAL" });
  const workflow = twoBranches("ask");
  const runtime = createRuntime({ store, nodeDefinitions: branchNodes(logPath("starter")), workflows: [workflow], maxExecutions: 200 });
  for (let i = 0; i < rounds; i += 100) {
    const started = await Promise.all(ids.slice(i, i + 100).map((workflowId) => runtime.start(workflow.id, { workflowId })));
    await Promise.all(started.map((run) => run.settled()));
  }
  await runtime.close();
  await store.close();
}

describe(`two processes on one SQLite file, ${rounds} times at the same moment`, () => {
  const once = ["fork", "right began", "right resumed", "join", "after"];
  const bothCommit = ["VERSION_CONFLICT", "first"];

  it("resume two waits of one execution: both answers are kept, and what comes after both happens once", async () => {
    await startAll();
    const pair = await twoRacers();
    const odd: unknown[] = [];
    for (const workflowId of ids) {
      pair[0].tell({ type: "resume", workflowId, node: "left" });
      pair[1].tell({ type: "resume", workflowId, node: "right" });
      const commits = await commitBoth(pair, workflowId);
      const verdicts = await Promise.all(pair.map((racer) => racer.hears("answered", workflowId)));
      if (`${commits}` !== `${bothCommit}` || `${verdicts}` !== "applied,applied") odd.push([workflowId, commits, verdicts]);
    }
    expect(odd).toEqual([]);
    expect(await allOddities("answer to left")).toEqual([]);
    expect(runs()).toEqual(ids.flatMap((id) => [...once, "left began", "left resumed"].map((what) => `${id} ${what}`)).sort());
  });

  it("one ends a branch, the other resumes its sibling: both results are kept, and what comes after both happens once", async () => {
    const pair = await twoRacers();
    const [holder, resumer] = pair;
    const odd: unknown[] = [];
    for (const workflowId of ids) {
      holder.tell({ type: "start", workflowId });
      await holder.hears("waiting", workflowId);
      holder.tell({ type: "finish", workflowId });
      resumer.tell({ type: "resume", workflowId, node: "right" });
      const commits = await commitBoth(pair, workflowId);
      const verdict = await resumer.hears("answered", workflowId);
      if (`${commits}` !== `${bothCommit}` || verdict !== "applied") odd.push([workflowId, commits, verdict]);
    }
    expect(odd).toEqual([]);
    expect(await allOddities("worked")).toEqual([]);
    expect(runs()).toEqual(ids.flatMap((id) => [...once, "left began"].map((what) => `${id} ${what}`)).sort());
  });
});
