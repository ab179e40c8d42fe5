import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Event, waits } from "stepfold";
import { createRuntime, type Run } from "stepfold/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkRun, type Verdict } from "./kill9/check-run.ts";
import { codeWorkflows } from "./kill9/code-load.ts";
import { decisionAbout, loadNames, loadNodes, loadWorkflows, restartedWhenFailed } from "./kill9/load.ts";
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
  const options = {
    workflows: [...loadWorkflows, ...codeWorkflows(write, { mostMs: 5 })],
    nodeDefinitions: loadNodes(write, { mostMs: 5 }),
    pollMs: 50,
  };
  const runtime = createRuntime({ store: loggedStore(store, write), ...options });
  await Promise.all(
    loadNames.map(async (name) => {
      const run = await runtime.start(name, { workflowId: name });
      write({ what: "started", workflowId: name });
      await run.settled();
      if (name === "doomed") {
        await run.cancel();
        write({ what: "cancelled", workflowId: name });
      }
      if (["asking", "monthly", "coded"].includes(name)) await answerAll(run, write, () => 1);
      if (name === "deciding") await answerAll(run, write, (id) => decisionAbout(name, id));
      if (restartedWhenFailed.includes(name)) {
        const { applied } = await run.restart({ idempotencyKey: "again" });
        write({ what: "restarted", workflowId: name, key: "again", applied });
      }
      await run.result().catch(() => undefined);
    }),
  );
  await runtime.close();
  await close();
  stored = await target.readAll();
  lines = readLogs(logs);
});

/** Answers the waits of an execution until it has ended. */
async function answerAll(run: Run, write: (line: LogLine) => void, payloadFor: (waitId: string) => unknown): Promise<void> {
  for (let { status, activePaths } = await run.settled(); status === "paused"; { status, activePaths } = await run.settled()) {
    for (const { id } of waits({ activePaths })) {
      const { applied } = await run.resume({ waitId: id, payload: payloadFor(id), idempotencyKey: `key-${id}` });
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

/** Adds that a process claims `line`, cannot run it, and leaves it to others. */
function leave({ lines, of }: Evidence, { askedAt = 0 } = {}): void {
  const { workflowId, version } = of("line");
  const at = { by: "lame", at: 1, takenFor: 0 };
  lines.push({ what: "claimed", workflowId, fence: 1, version, expired: 0, crashes: 0, askedAt, ...at });
  lines.push({ what: "problem", workflowId, code: "WORKFLOW_LEFT", message: "it lacks code", ...at });
}

/** The number of answers to an execution. */
function answersTo(workflowId: string): number {
  const { rows } = stored.executions.find((execution) => execution.workflowId === workflowId)!;
  return rows.filter(({ event }) => event.type === "resumed" && event.by === "payload").length;
}

describe("the checker of the kill -9 runs", () => {
  it("has nothing to say of a run without faults", () => {
    const { lost, doubled, wrong, acknowledged, executions, versions } = judged(() => undefined);
    expect({ lost, doubled, wrong }).toEqual({ lost: [], doubled: [], wrong: [] });
    // the detached children are two additional executions
    expect(executions).toBe(loadNames.length + 2);
    const resumes = 2 + 3 + 2 + answersTo("deciding");
    expect(acknowledged).toEqual({ transitions: versions, starts: loadNames.length, resumes, cancels: 1, restarts: 2 });
    expect(answersTo("deciding")).toBeGreaterThan(0);
  });

  it("counts what processes have left to others", () => {
    expect(judged(leave)).toMatchObject({ wrong: [], left: { claims: 1, executions: 1, twice: 0 } });
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
      "a step of code has two results",
      "doubled",
      /coded: step >0.1 has a result at version 1, and another one at version \d+/,
      ({ of }) => append(of("coded"), rowOf(of("coded"), (event) => event.type === "completed" && event.nodeId === "before").event),
    ],
    [
      "a wait of code has two results",
      "doubled",
      /coded: step >0.\d+ has a result at version \d+, and another one at version \d+/,
      ({ of }) => append(of("coded"), rowOf(of("coded"), ({ type }) => type === "resumed").event),
    ],
    [
      "code takes another winner in a race",
      "wrong",
      /coded: at version \d+ the winner is another, and coded\/0.\d+#1 was first/,
      ({ of }) => {
        const row = rowOf(of("coded"), (event) => event.type === "completed" && event.nodeId === "raced");
        const { output } = row.event as Event & { type: "completed"; output: object };
        change(row, { output: { ...output, winner: "another" } });
      },
    ],
    [
      "a restart is lost",
      "lost",
      /breaking: its again, acknowledged to only, is not there/,
      ({ of }) =>
        change(
          rowOf(of("breaking"), ({ type }) => type === "restarted"),
          { idempotencyKey: "another" },
        ),
    ],
    [
      "a restart counts twice",
      "doubled",
      /breaking: again counts twice/,
      ({ of }) => append(of("breaking"), rowOf(of("breaking"), ({ type }) => type === "restarted").event),
    ],
    [
      "two were told that their restart was the first",
      "wrong",
      /breaking: again was called applied twice, again to other/,
      ({ lines }) => void lines.push({ ...lines.find(({ what }) => what === "restarted")!, by: "other" }),
    ],
    [
      "what goes on had not ended",
      "wrong",
      /line: version 5 \(restarted\) does not follow/,
      (evidence) => {
        rollBack(evidence.of("line"), 4);
        append(evidence.of("line"), rowOf(evidence.of("breaking"), ({ type }) => type === "restarted").event);
      },
    ],
    [
      "a run is left out",
      "wrong",
      /rounds: version \d+ begins run 4, not 3/,
      ({ of }) =>
        change(
          rowOf(of("rounds"), (event) => event.type === "continued" && event.run === 3),
          { run: 4 },
        ),
    ],
    [
      "the head counts other runs than the history",
      "wrong",
      /rounds: its head says run 7 and 0 restarts, not 6 and 0/,
      ({ of }) => {
        const rounds = of("rounds");
        const head = JSON.parse(rounds.head);
        rounds.head = JSON.stringify({ ...head, run: { ...head.run, number: 7 } });
      },
    ],
    [
      "a step that is completed is performed again after a claim",
      "doubled",
      /line: line\/0#1, completed at version 1, is performed again by worker-9, which claimed version 1/,
      ({ lines }) => {
        const call = lines.find((line) => line.what === "called" && line.workflowId === "line")!;
        const at = { by: "worker-9", at: 0, takenFor: 0 };
        lines.push(
          { what: "claimed", workflowId: "line", fence: 9, version: 1, expired: 0, crashes: 0, askedAt: 0, ...at },
          { ...call, ...at },
        );
      },
    ],
    [
      "an execution is given to a process that cannot run it",
      "wrong",
      /line: was claimed by lame, which had found out before that it cannot run it/,
      (evidence) => leave(evidence, { askedAt: 2 }),
    ],
    [
      "a host is told twice",
      "wrong",
      /line: the host of lame was told twice that it cannot be run there/,
      (evidence) => void [leave(evidence), leave(evidence)],
    ],
    ["an execution is parked", "wrong", /line: version 6 parks it/, ({ of }) => append(of("line"), { type: "parked" })],
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
