import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Event, waits } from "stepfold";
import { createRuntime, type Run } from "stepfold/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkRun, type Verdict } from "./kill9/check-run.ts";
import { breaking, decisionAbout, loadNames, loadNodes, loadWorkflows } from "./kill9/load.ts";
import { type LogLine, openLog, readLogs, type WrittenLine } from "./kill9/log.ts";
import { loggedStore } from "./kill9/logged-store.ts";
import { openStore } from "./kill9/open-store.ts";
import { sqliteTarget } from "./kill9/sqlite-target.ts";
import type { Stored, StoredExecution, StoredRow } from "./kill9/stored.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Execution = Writable<Omit<StoredExecution, "rows">> & { rows: Writable<StoredRow>[] };
/** The rows and log lines of a run, which a test can tamper with. */
interface Evidence {
  readonly executions: Execution[];
  lines: WrittenLine[];
  of(workflowId: string): Execution;
}

const folder = mkdtempSync(join(tmpdir(), "stepfold-checker-"));
let stored: Stored;
let lines: WrittenLine[];

/** Runs one execution of each workflow of the load, without any fault, and reads its rows and log. */
beforeAll(async () => {
  const target = await sqliteTarget(folder);
  const logs = join(folder, "logs");
  mkdirSync(logs);
  const write = openLog(logs, "only");
  const { store, close } = await openStore(target.url);
  const options = { workflows: loadWorkflows, nodeDefinitions: loadNodes(write, { mostMs: 5 }), pollMs: 50 };
  const runtime = createRuntime({ store: loggedStore(store, write), ...options });
  await Promise.all(
    loadNames.map(async (name) => {
      const run = await runtime.start(name, { workflowId: name });
      write({ what: "started", workflowId: name });
      const { activePaths } = await run.settled();
      if (name === "doomed") {
        await run.cancel();
        write({ what: "cancelled", workflowId: name });
      }
      for (const { id } of name === "asking" ? waits({ activePaths }) : []) {
        const { applied } = await run.resume({ waitId: id, payload: 1, idempotencyKey: `key-${id}` });
        write({ what: "resumed", workflowId: name, waitId: id, key: `key-${id}`, applied });
      }
      if (name === "deciding") await decide(run, write);
      if (name === breaking) {
        const { workflowId: as } = await run.restart();
        write({ what: "restarted", workflowId: name, as });
      }
      await run.result().catch(() => undefined);
    }),
  );
  await runtime.close();
  await close();
  stored = await target.readAll();
  lines = readLogs(logs);
});

/** Answers the incidents of an execution until the execution has ended. */
async function decide(run: Run, write: (line: LogLine) => void): Promise<void> {
  for (let { status, activePaths } = await run.settled(); status === "paused"; { status, activePaths } = await run.settled()) {
    for (const { id } of waits({ activePaths })) {
      const payload = decisionAbout(run.workflowId, id);
      const { applied } = await run.resume({ waitId: id, payload, idempotencyKey: `key-${id}` });
      write({ what: "resumed", workflowId: run.workflowId, waitId: id, key: `key-${id}`, applied });
    }
  }
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function judged(tamper: (evidence: Evidence) => void): Verdict {
  const executions = structuredClone(stored.executions) as unknown as Execution[];
  const of = (workflowId: string): Execution => executions.find((execution) => execution.workflowId === workflowId)!;
  const evidence = { executions, lines: structuredClone(lines), of };
  tamper(evidence);
  return checkRun({ executions, definitions: stored.definitions }, evidence.lines);
}

/** Removes everything after a version, as if it had not happened. */
function rollBack(execution: Execution, to: number): void {
  execution.rows = execution.rows.slice(0, to + 1);
  execution.version = to;
}

function append(execution: Execution, event: Partial<Event>): void {
  const version = ++execution.version;
  execution.rows.push({ version, commitId: execution.rows.at(-1)!.commitId, event: { ...event, version } as Event });
}

function rowOf({ rows }: Execution, matches: (event: Event) => boolean): Writable<StoredRow> {
  return rows.find(({ event }) => matches(event))!;
}

function change(row: Writable<StoredRow>, changes: Readonly<Record<string, unknown>>): void {
  row.event = { ...row.event, ...changes } as Event;
}

/** Changes the log line that was written before the commit of a row was sent. */
function rewrite(evidence: Evidence, { commitId }: StoredRow, changes: { readonly fence?: number; readonly at?: number }): void {
  evidence.lines = evidence.lines.map((line) =>
    line.what === "committing" && line.commitId === commitId ? { ...line, ...changes } : line,
  );
}

function decisions(): number {
  const { rows } = stored.executions.find(({ workflowId }) => workflowId === "deciding")!;
  return rows.filter(({ event }) => event.type === "resumed").length;
}

describe("the checker of the kill -9 runs", () => {
  it("has nothing to say of a run without faults", () => {
    const { lost, doubled, wrong, acknowledged, executions, versions } = judged(() => undefined);
    expect({ lost, doubled, wrong }).toEqual({ lost: [], doubled: [], wrong: [] });
    // the detached child and the restart are two additional executions
    expect(executions).toBe(loadNames.length + 2);
    expect(acknowledged).toEqual({ transitions: versions, starts: loadNames.length, resumes: 2 + decisions(), cancels: 1, restarts: 1 });
    expect(decisions()).toBeGreaterThan(0);
  });

  it.each<[string, "lost" | "doubled" | "wrong", RegExp, (evidence: Evidence) => void]>([
    ["a row in the middle is lost", "lost", /line: version 3 of 5 is missing/, ({ of }) => void of("line").rows.splice(3, 1)],
    ["the last row is lost", "lost", /line: version 5 of 5 is missing/, ({ of }) => void of("line").rows.pop()],
    [
      "rows and head are of an earlier moment",
      "lost",
      /line: version 4, acknowledged to only, is not there/,
      ({ of }) => rollBack(of("line"), 3),
    ],
    [
      "an execution is lost",
      "lost",
      /line: its start, acknowledged to only/,
      ({ executions, of }) => void executions.splice(executions.indexOf(of("line")), 1),
    ],
    ["an execution is there twice", "doubled", /line is there twice/, ({ executions, of }) => void executions.push(of("line"))],
    [
      "a version is there twice",
      "doubled",
      /line: version 2 was committed twice/,
      ({ of }) => void of("line").rows.push(of("line").rows[2]!),
    ],
    [
      "a version is that of another commit",
      "doubled",
      /line: version 2, acknowledged to only, is that of another commit/,
      ({ of }) => {
        of("line").rows[2]!.commitId = of("line").rows[3]!.commitId;
      },
    ],
    [
      "a commit is that of nobody",
      "wrong",
      /line: version 2 is of a commit that nobody has sent/,
      (evidence) => {
        const { commitId } = evidence.of("line").rows[2]!;
        evidence.lines = evidence.lines.filter((line) => !("commitId" in line && line.commitId === commitId));
      },
    ],
    [
      "a commit by a claim that was lost counts",
      "wrong",
      /line: version 3 is a stale commit, by claim 1 after 2/,
      (evidence) => {
        rewrite(evidence, evidence.of("line").rows[2]!, { fence: 2 });
      },
    ],
    [
      "an effect counts twice",
      "doubled",
      /line: the effect line\/0#2 counts twice, again at version 3/,
      ({ of }) => {
        const [, , second, third] = of("line").rows as { event: Event & { type: "completed" } }[];
        change(third as StoredRow, { output: second!.event.output });
      },
    ],
    [
      "a result comes without an effect",
      "wrong",
      /line: the result of version 2 has no effect/,
      (evidence) => {
        const { output } = evidence.of("line").rows[2]!.event as Event & { type: "completed"; output: { call: string } };
        evidence.lines = evidence.lines.filter((line) => !(line.what === "called" && line.call === output.call));
      },
    ],
    [
      "a wait is answered twice",
      "doubled",
      /asking: wait 0.* was answered twice/,
      ({ of }) => append(of("asking"), rowOf(of("asking"), ({ type }) => type === "resumed").event),
    ],
    [
      "an answer is lost",
      "lost",
      /asking: the answer to .* acknowledged to only, is not there/,
      ({ of }) =>
        change(
          rowOf(of("asking"), ({ type }) => type === "resumed"),
          { idempotencyKey: "another" },
        ),
    ],
    [
      "two were told that their answer was the first",
      "wrong",
      /asking: key-.* was called applied twice, again to other/,
      ({ lines }) => void lines.push({ ...lines.find(({ what }) => what === "resumed")!, by: "other" }),
    ],
    [
      "a cancellation is lost",
      "lost",
      /line: its cancellation, acknowledged to only, is not there/,
      ({ lines }) => void lines.push({ what: "cancelled", workflowId: "line", by: "only", at: 0, takenFor: 0 }),
    ],
    [
      "a restart is lost",
      "lost",
      /breaking: its restart as breaking~2, acknowledged to only, is not there/,
      ({ executions, of }) => void executions.splice(executions.indexOf(of("breaking~2")), 1),
    ],
    [
      "a restart is made twice",
      "doubled",
      /breaking was restarted as breaking~2 and as breaking~3/,
      ({ executions, of }) => void executions.push({ ...of("breaking~2"), workflowId: "breaking~3" }),
    ],
    [
      "what goes on had not failed",
      "wrong",
      /breaking~2 goes on from version \d+ of breaking, which is completed/,
      ({ of }) => {
        of("breaking").status = "completed";
      },
    ],
    [
      "a decision is lost",
      "lost",
      /deciding: the answer to .* acknowledged to only, is not there/,
      ({ of }) =>
        change(
          rowOf(of("deciding"), ({ type }) => type === "resumed"),
          { idempotencyKey: "another" },
        ),
    ],
    [
      "something follows the end",
      "wrong",
      /line: version 6 \(completed\) follows the end/,
      ({ of }) => append(of("line"), of("line").rows[2]!.event),
    ],
    [
      "a row does not follow from the one before it",
      "wrong",
      /line: version 2 \(completed\) does not follow from version 1/,
      ({ of }) => change(of("line").rows[2]!, { pathId: "0.7" }),
    ],
    [
      "the head is not what the rows add up to",
      "wrong",
      /line: the stored head is not .* steps is 4, not 5/,
      ({ of }) => {
        const line = of("line");
        line.head = JSON.stringify({ ...JSON.parse(line.head), steps: 4 });
      },
    ],
    [
      "a child is not what the rows add up to",
      "wrong",
      /the stored head is not .* childStates/,
      ({ of }) => {
        of("line").children = [["0#1/0", JSON.stringify({ status: "active", activePaths: [], version: 1 })]];
      },
    ],
    [
      "a timer fires early",
      "wrong",
      /timer: timer .* was due at \d+ and fired at 1000/,
      ({ of }) =>
        change(
          rowOf(of("timer"), ({ type }) => type === "resumed"),
          { at: 1_000 },
        ),
    ],
    [
      "a timer fires early by the clock of the machine",
      "wrong",
      /timer: timer .* was due at \d+, and fired \d+ ms early by the machine's clock/,
      (evidence) =>
        rewrite(
          evidence,
          rowOf(evidence.of("timer"), ({ type }) => type === "resumed"),
          { at: 1_000 },
        ),
    ],
    [
      "a retry is early",
      "wrong",
      /retrying: attempt 2 of flaky was due at \d+ and began at 1000/,
      ({ of }) =>
        change(
          rowOf(of("retrying"), (event) => event.type === "failed" && event.attempt === 2),
          { startedAt: 1_000 },
        ),
    ],
    [
      "an execution never ends",
      "wrong",
      /line: has not ended: active at version 3/,
      (evidence) => {
        const gone = evidence
          .of("line")
          .rows.slice(4)
          .map(({ commitId }) => commitId);
        rollBack(evidence.of("line"), 3);
        evidence.lines = evidence.lines.filter((line) => !("commitId" in line && gone.includes(line.commitId)));
      },
    ],
    [
      "an ended execution is held still",
      "wrong",
      /line: has ended, and is still held by worker-1/,
      ({ of }) => {
        of("line").owner = "worker-1";
      },
    ],
  ])("sees that %s", (_what, kind, expected, tamper) => {
    expect(judged(tamper)[kind]).toContainEqual(expect.stringMatching(expected));
  });
});
