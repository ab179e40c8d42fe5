import { describe, expect, it } from "vitest";
import { eventOn, graph, startedAt } from "../../../../test/core/execution.fixture.ts";
import type { Event } from "../../snapshot/event.ts";
import { historyCheckpoint } from "../../snapshot/history-checkpoint.ts";
import { maxAnsweredKeys } from "../../snapshot/parts/answered-key.ts";
import { fold } from "../apply.ts";
import { closeDraft } from "./close-draft.ts";
import type { Draft } from "./draft.ts";
import { isCheckpointDue } from "./held-size.ts";
import { openDraft } from "./open-draft.ts";

const flow = graph(["a>b"]);
const first = fold(flow, [startedAt(flow, "a")]);

/** Makes commits with events of equal size, and returns the numbers of those that write a checkpoint. */
function checkpointsOf(commits: number, eventBytes: number, heldBytes: (commit: number) => number, leastBytes = 1_000): number[] {
  const draft = openDraft(flow, first) as Draft;
  const due: number[] = [];
  for (let commit = 1; commit <= commits; commit++) {
    draft.historyBytes += eventBytes;
    draft.sizeBytes = heldBytes(commit);
    if (isCheckpointDue(draft, leastBytes)) due.push(commit);
    draft.committedHistoryBytes = draft.historyBytes;
  }
  return due;
}

describe("a checkpoint is due", () => {
  it("each time that so many bytes of events were added, and not before", () => {
    expect(checkpointsOf(45, 100, () => 10)).toEqual([8, 18, 28, 38].map((commit) => commit));
    expect(checkpointsOf(8, 100, () => 10)).toHaveLength(1);
    expect(checkpointsOf(7, 100, () => 10)).toEqual([]);
  });

  it("more rarely where much is held: after one and a half to twelve times as many bytes of events", () => {
    for (const held of [600, 5_000, 70_000]) {
      const due = checkpointsOf(5_000, 100, () => held);
      const gaps = due.slice(1).map((commit, index) => (commit - due[index]!) * 100);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1.5 * held - 100);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(12 * held + 100);
    }
  });

  it("never while everything is kept", () => {
    expect(checkpointsOf(5_000, 100, (commit) => commit * 100 + 200)).toEqual([]);
  });

  it("ever more rarely while all results are kept, however small they are", () => {
    const draft = openDraft(flow, first);
    const due: number[] = [];
    for (let version = 1; version <= 2_000; version++) {
      draft.context = { a: [...(draft.context.a ?? []), { output: 1, timestamp: 0, attempt: 1, pathId: "0", version }] };
      draft.historyBytes += 206;
      draft.sizeBytes += 6;
      if (isCheckpointDue(draft, 1_000)) due.push(version);
      draft.committedHistoryBytes = draft.historyBytes;
    }
    // from one checkpoint to the next the size of the events grows by a factor of 8
    expect(due.length).toBeLessThan(4);
    const children = Array.from({ length: 50 }, (_, index) => [`0#1/${index}`, { context: draft.context }] as const);
    Object.assign(draft, {
      context: {},
      children: new Map(children),
      historyBytes: 1_000_500,
      committedHistoryBytes: 999_500,
      sizeBytes: 10,
    });
    expect(isCheckpointDue(draft, 1_000)).toBe(false);
    expect(isCheckpointDue({ ...draft, children: new Map() }, 1_000)).toBe(true);
  });

  it("counts the keys of answers as held", () => {
    const draft = openDraft(flow, { ...first, historyBytes: 1_950 });
    draft.historyBytes = 2_010;
    expect(isCheckpointDue(draft, 1_000)).toBe(true);
    draft.answered = Array.from({ length: 100 }, (_, version) => ({ command: "signal", key: "k", version }));
    expect(isCheckpointDue(draft, 1_000)).toBe(false);
  });
});

describe("the keys of answers and signals", () => {
  const signal = (version: number, key?: string): Event => {
    const keyed = key === undefined ? {} : { idempotencyKey: key };
    return { type: "signalled", version, at: 5, name: "go", expiresAt: 6, ...keyed };
  };

  it("are remembered with the versions of their events", () => {
    const asked = eventOn(first, "0", { waits: [{ id: "0@2", kind: "external" }] });
    const answer: Event = {
      type: "resumed",
      version: 4,
      at: 5,
      pathId: "0",
      waitId: "0@2",
      by: "payload",
      idempotencyKey: "x",
      nodeId: "a",
    };
    const started = startedAt(flow, "a");
    expect(fold(flow, [started, asked, signal(2, "x"), signal(3), answer]).answered).toEqual([
      { command: "signal", key: "x", version: 2, at: 5 },
      { command: "resume", key: "x", version: 4, at: 5 },
    ]);
    const { incarnation: _, ...free } = started;
    expect(fold(flow, [free, signal(1, "x")]).answered).toBeUndefined();
  });

  it("are two thousand at most, the latest, if nobody moves the older ones into rows", () => {
    const signals = Array.from({ length: maxAnsweredKeys + 5 }, (_, index) => signal(index + 1, `key ${index}`));
    const { answered } = fold(flow, [startedAt(flow, "a"), ...signals]);
    expect([answered?.length, answered?.[0]?.key]).toEqual([maxAnsweredKeys, "key 5"]);
  });
});

describe("the checkpoint of a snapshot", () => {
  it("holds what the first event fixed, and no more than there is", () => {
    const bare = historyCheckpoint({
      schema: 1,
      workflowId: "w",
      definition: first.definition,
      status: "active",
      currentNodeId: "a",
      activePaths: [],
      version: 3,
      metadata: {},
      steps: 0,
      sizeBytes: 0,
      context: {},
    });
    expect(bare).toEqual({ version: 3, definition: first.definition, metadata: {}, context: {} });
    const full = {
      ...closeDraft(openDraft(flow, first)),
      tenant: "acme",
      input: null,
      answered: [],
      compensations: [],
      mapItems: {},
      childStates: {},
    };
    expect(historyCheckpoint(full)).toMatchObject({
      tenant: "acme",
      input: null,
      incarnation: "i",
      createdAt: 1_000,
      answered: [],
      compensations: [],
      mapItems: {},
      childStates: {},
    });
  });
});
