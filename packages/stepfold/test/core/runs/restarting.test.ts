import { describe, expect, it } from "vitest";
import type { CompiledWorkflow } from "../../../src/core/definition/compiled.ts";
import { fitted } from "../../../src/core/restart/fitted.ts";
import { reopenRun } from "../../../src/core/restart/reopen-run.ts";
import { restartState } from "../../../src/core/restart/restart-state.ts";
import type { RunHistory } from "../../../src/core/restart/run-history.ts";
import type { Event, RestartedEvent, StartedEvent } from "../../../src/core/snapshot/event.ts";
import { restore } from "../../../src/core/snapshot/restore.ts";
import type { ActivePath, ChildState, Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../src/core/snapshot/snapshot-head.ts";
import { apply, fold } from "../../../src/core/transition/apply.ts";
import { openDraft } from "../../../src/core/transition/draft/open-draft.ts";
import { evolve } from "../../../src/core/transition/evolve.ts";
import { Replay } from "../../../src/core/transition/replay.ts";
import { takeCheckpoint } from "../../../src/core/transition/take-checkpoint.ts";
import { eventOn, graph, startedAt } from "../execution.fixture.ts";

/** Applies events one after the other; each is made from the execution before it. */
function lived(workflow: CompiledWorkflow, first: StartedEvent, ...steps: readonly ((snapshot: Snapshot) => Event)[]) {
  const events: [StartedEvent, ...Event[]] = [first];
  let snapshot = fold(workflow, [first]);
  for (const step of steps) {
    const event = step(snapshot);
    events.push(event);
    snapshot = apply(workflow, snapshot, event);
  }
  const history: RunHistory = { head: snapshotHead(snapshot), events, workflowOf: () => workflow };
  return { snapshot, events, history };
}

const done = (pathId: string) => (snapshot: Snapshot) => eventOn(snapshot, pathId, { done: null });
const failed = (pathId: string) => (snapshot: Snapshot) => eventOn(snapshot, pathId, { error: "no", retryAt: null });
const spawned = (snapshot: Snapshot): Event => {
  const { type: _, output: __, ...step } = eventOn(snapshot, "0", { done: null }) as Event & { output: unknown };
  const map = { items: [1, "soon"], concurrency: 1, remaining: "cancel" as const, tolerated: 0 };
  return { ...(step as object), type: "spawned", visit: 1, children: { workflow: "item", map } } as unknown as Event;
};
/** An event of the only path in a child. */
const inChild =
  (scope: string, outcome: Parameters<typeof eventOn>[2]) =>
  (snapshot: Snapshot): Event =>
    ({ ...eventOn({ ...snapshot, activePaths: snapshot.childStates![scope]!.activePaths }, "0", outcome), scope }) as Event;
const terms = { version: 5, laterMs: 0, adopts: [], ahead: 0 };

/** The event that restarts an execution. */
function restarted(workflow: CompiledWorkflow, history: RunHistory, more: Partial<RestartedEvent> = {}): RestartedEvent {
  const { head, events } = history;
  const version = events.at(-1)!.version + 1;
  const { snapshot } = reopenRun(history, false)!;
  const definition = { id: workflow.definition.id, hash: workflow.hash };
  return { type: "restarted", version, at: 9_000, definition, state: restartState(snapshot, { ...terms, version }), ...(head && more) };
}

/** Where the paths of an execution stand. */
const standing = ({ activePaths }: Pick<Snapshot, "activePaths">): string[] =>
  activePaths.map(({ nodeId, status }) => `${nodeId} ${status}`);

describe("a run that is opened again", () => {
  it("is none if its end is not decided", () => {
    const flow = graph(["a>b"]);
    expect(reopenRun(lived(flow, startedAt(flow, "a"), done("0")).history, false)).toBeNull();
  });

  it("is read as far as its events apply", () => {
    const flow = graph(["a>b"]);
    const { history } = lived(flow, startedAt(flow, "a"), done("0"), failed("0"));
    const odd = { ...eventOn(fold(flow, [startedAt(flow, "a")]), "0", { done: 1 }), version: 3 };
    const opened = reopenRun({ ...history, events: [...history.events, odd] }, false)!;
    expect(standing(opened.snapshot)).toEqual(["b ready"]);
  });

  it("stands before the judgement of a condition that threw, also if its error leads back to it", () => {
    for (const more of [[], ["b>b@error"]]) {
      const flow = graph(["a>b", ...more], [{ id: "b", type: "noop", when: "input.x.y.z" }]);
      const { snapshot, history } = lived(flow, startedAt(flow, "a"), done("0"));
      expect(snapshot.status).toBe("failed");
      expect(standing(reopenRun(history, false)!.snapshot)).toEqual(["b held"]);
    }
  });

  it("stands before the judgement of a map whose condition threw, and of an item that could not begin", () => {
    const item = { id: "item", nodes: [{ id: "n", type: "noop" }], edges: [] };
    const asks = graph(["m>z"], [{ id: "m", type: "map", data: { completeWhen: "{{ results.x.y.z }}" } }], {
      workflows: { item } as never,
    });
    const late = graph(["m>z"], [], { workflows: { item: { ...item, timeout: "{{ input == 'soon' ? input : '1h' }}" } } as never });
    const judged = lived(asks, startedAt(asks, "m"), spawned);
    expect(judged.snapshot.status).toBe("failed");
    expect(standing(reopenRun(judged.history, false)!.snapshot)).toEqual(["m suspended"]);
    const { snapshot, history } = lived(late, startedAt(late, "m"), spawned, inChild("0#1/0", { done: 7 }));
    expect(snapshot.status).toBe("failed");
    const opened = reopenRun(history, false)!.snapshot;
    expect(standing(opened)).toEqual(["m suspended"]);
    expect(opened.childStates!["0#1/0"]).toMatchObject({ status: "completed", output: 7 });
  });

  it("counts an item that waits for its next attempt, also after it had to wait for its place again", () => {
    const item = { id: "item", nodes: [{ id: "n", type: "noop" }], edges: [], timeout: "1h" };
    const flow = graph(["m>z"], [], { workflows: { item } as never });
    const expired = ({ version }: Snapshot): Event => ({ type: "expired", version: version + 1, at: 5e6, scope: "0#1/0" });
    const retry = { error: "no", retryAt: 6e6 };
    const { snapshot, events, history } = lived(flow, startedAt(flow, "m"), spawned, inChild("0#1/0", retry), expired);
    expect(snapshot.status).toBe("failed");
    const event = restarted(flow, history);
    const after = apply(flow, snapshot, event);
    expect(after.status).toBe("error");
    const retried = { type: "retried", version: event.version + 1, at: 6e6, scope: "0#1/0", pathId: "0" } as const;
    const again = apply(flow, after, retried);
    const waits = inChild("0#1/0", retry)(again);
    expect(fold(flow, [...events, event, retried, waits])).toEqual(apply(flow, again, waits));
  });

  it("goes on when an output can be computed at last, with its `finally` node or without", () => {
    for (const rest of [{}, { finally: "bye" }]) {
      const flow = graph(["a>b"], ["bye"], { output: "{{ input.x.y }}", ...rest });
      const mended = graph(["a>b"], ["bye"], { output: 5, ...rest });
      const steps = "finally" in rest ? [done("0"), done("0"), done("finally")] : [done("0"), done("0")];
      const { snapshot, events, history } = lived(flow, startedAt(flow, "a"), ...steps);
      expect(snapshot).toMatchObject({ status: "failed", error: { code: "EXPRESSION_FAILED" } });
      const times = { deadlineAt: 99_000, givenTime: { deadlineAt: 99_000, timeoutMs: 9_000 } };
      const event = restarted(mended, history, times);
      const after = apply(mended, snapshot, event);
      expect(after.restarts).toBe(1);
      if ("finally" in rest) expect(standing(after)).toEqual(["bye ready"]);
      else expect(after).toMatchObject({ status: "completed", output: 5, ...times });
      const workflowOf = (hash: string) => (hash === mended.hash ? mended : flow);
      expect(fold(flow, [...events, event] as [StartedEvent, ...Event[]], workflowOf)).toEqual(after);
      const replay = new Replay(flow, null, workflowOf);
      expect([...events, event].map((each) => replay.add(each))).not.toContain(false);
      expect(replay.snapshot()).toEqual(after);
      expect(restore({ head: snapshotHead(after), children: [], events: [...events, event] })).toEqual(after);
    }
  });

  it("is opened only if it has ended, and once", () => {
    const flow = graph(["a>b"]);
    const { snapshot, events, history } = lived(flow, startedAt(flow, "a"), done("0"), failed("0"));
    const event = restarted(flow, history);
    const open = apply(flow, snapshot, event);
    expect(standing(open)).toEqual(["b ready"]);
    expect(apply(flow, open, { ...event, version: open.version + 1 })).toBe(open);
    expect(apply(flow, snapshot, { ...event, version: 9 })).toBe(snapshot);
    expect(evolve(openDraft(flow, open), { ...event, version: open.version + 1 })).toBe(false);
    const replay = new Replay(flow);
    for (const each of [...events, event]) replay.add(each);
    expect(replay.snapshot()).toEqual(open);
  });

  it("gives a wait its whole time again, and a sub-workflow too, after each restart", () => {
    const inner = { id: "inner", timeout: "1s", nodes: [{ id: "n", type: "noop" }], edges: [] };
    const flow = graph(["w>z"], [], { workflows: { inner } as never });
    const spawned = (snapshot: Snapshot): Event =>
      ({ ...eventOn(snapshot, "0", { done: null }), type: "spawned", visit: 1, children: { workflow: "inner" } }) as unknown as Event;
    const expired = (snapshot: Snapshot): Event => ({ type: "expired", version: snapshot.version + 1, at: 50_000, scope: "0#1" });
    let { snapshot, events, history } = lived(flow, startedAt(flow, "w"), spawned, expired);
    for (const restarts of [1, 2]) {
      expect(snapshot.status).toBe("failed");
      const event = restarted(flow, history, { at: 50_000 });
      snapshot = apply(flow, snapshot, event);
      expect(snapshot.childStates!["0#1"]!.deadlineAt).toBe(restarts === 1 ? 51_000 : 93_000);
      const late: Event = { type: "expired", version: snapshot.version + 1, at: 91_000 + 1_000 * restarts, scope: "0#1" };
      events = [...events, event, late] as typeof events;
      snapshot = apply(flow, snapshot, late);
      history = { ...history, head: snapshotHead(snapshot), events };
    }
    const waits = [{ id: "0@2", kind: "external" as const, resumeAt: 90_000, timeoutAt: 5_000 }];
    const asks = graph(["a>b"]);
    const timedOut = (snapshot: Snapshot): Event => {
      const { nodeId } = snapshot.activePaths[0]!;
      const error = { name: "Error", message: "late", nodeId };
      return { type: "timedOut", version: snapshot.version + 1, at: 6_000, pathId: "0", nodeId, attempt: 1, waitId: "0@2", error };
    };
    const asked = lived(asks, startedAt(asks, "a"), (before) => eventOn(before, "0", { waits }, 3_000), timedOut);
    const [path] = reopenRun(asked.history, false)!.snapshot.activePaths;
    expect(path!.waits).toMatchObject([{ openedAt: 6_000, resumeAt: 93_000, timeoutAt: 8_000 }]);
  });

  it("sees no results after the version to which undone steps go back", () => {
    const flow = graph(["a>b", "b>c"]);
    const { snapshot, events, history } = lived(flow, startedAt(flow, "a"), done("0"), done("0"), failed("0"));
    const variables = { x: [{ value: 1, version: 1 }] };
    const event = restarted(flow, history, { since: 1, dropsCompensations: true });
    const back = { ...event, state: { ...event.state, variables } };
    const open = apply(
      flow,
      { ...snapshot, context: { ...snapshot.context, a: [...snapshot.context.a!, { ...snapshot.context.a![0]!, version: 2 }] } },
      back,
    );
    expect(Object.keys(open.context)).toEqual(["a"]);
    expect(open.context.a).toHaveLength(1);
    const read = restore({ head: snapshotHead(open), children: [], events: [...events, back] });
    expect([read.context, read.variables]).toEqual([open.context, open.variables]);
    const bare = restore({ head: snapshotHead(open), children: [], events: [...events, event] });
    expect([bare.variables, apply(flow, snapshot, event).variables]).toEqual([undefined, undefined]);
  });

  it("lets each path read the values of variables that it could read, which are no longer held at the end", () => {
    const edges = ["a>b", "a>c"];
    const item = { id: "item", nodes: ["a", "b", "c"].map((id) => ({ id, type: "noop" })), edges: graph(edges).definition.edges };
    const ofMap = graph(["m>z"], [], { workflows: { item } as never });
    for (const [flow, scope] of [
      [graph(edges), undefined],
      [ofMap, "0#1/0"],
    ] as const) {
      const of = (snapshot: Snapshot, pathId: string, outcome: Parameters<typeof eventOn>[2], variables?: object): Event => {
        const { activePaths } = scope ? snapshot.childStates![scope]! : snapshot;
        return { ...eventOn({ ...snapshot, activePaths }, pathId, outcome), ...(scope && { scope }), variables } as Event;
      };
      const { snapshot, events, history } = lived(
        flow,
        startedAt(flow, scope ? "m" : "a"),
        ...(scope ? [spawned] : []),
        (before) => of(before, "0", { done: null }, { v: 1 }),
        (before) => of(before, "0", { done: null }, { v: 2 }),
        (before) => of(before, "0.1", { error: "no", retryAt: null }),
      );
      expect(snapshot.status).toBe("failed");
      const event = restarted(flow, history);
      const after = apply(flow, snapshot, event);
      const first = events.length - 3;
      const values = [
        { value: 1, version: first },
        { value: 2, version: first + 1 },
      ];
      expect((scope ? after.childStates![scope] : after)!.variables).toEqual({ v: values });
      const children = Object.entries(after.childStates ?? {}).map(([key, { context: _, variables: __, ...head }]) => [key, head] as const);
      const read = restore({ head: snapshotHead(after), children, events: [...events, event] });
      expect((scope ? read.childStates![scope] : read)!.variables).toEqual({ v: values });
      // a second restart finds them in the state of the first
      const cancelled: Event = { type: "cancelled", version: after.version + 1, at: 9_500 };
      const again = reopenRun({ ...history, events: [...events, event, cancelled] as unknown as RunHistory["events"] }, false)!.snapshot;
      expect((scope ? again.childStates![scope] : again)!.variables).toEqual({ v: values });
    }
  });

  it("opens a sub-workflow again that was cancelled by itself, and leaves it as it is when it goes on", () => {
    const inner = { id: "inner", nodes: [{ id: "n", type: "noop" }], edges: [] };
    const flow = graph(["w>z"], [], { workflows: { inner } as never });
    const begun = (snapshot: Snapshot): Event =>
      ({ ...eventOn(snapshot, "0", { done: null }), type: "spawned", visit: 1, children: { workflow: "inner" } }) as unknown as Event;
    const cancelled = (snapshot: Snapshot): Event => ({ type: "cancelled", version: snapshot.version + 1, at: 5, scope: "0#1" });
    const { snapshot, events, history } = lived(flow, startedAt(flow, "w"), begun, cancelled);
    expect(snapshot.status).toBe("failed");
    const event = restarted(flow, history);
    const open = apply(flow, snapshot, event);
    expect(open.childStates!["0#1"]).toMatchObject({ status: "active", activePaths: [{ nodeId: "n", status: "ready" }] });
    // while it goes on again, the step that waits for it times out
    const { turn } = open.activePaths[0]!;
    const waits = [{ id: "0@2", kind: "children" as const, timeoutAt: 7 }];
    const timed = { ...event, state: { ...event.state, activePaths: [{ ...open.activePaths[0]!, waits }] } };
    const error = { name: "Error", message: "late" };
    const step = { pathId: "0", turn, nodeId: "w", attempt: 1, startedAt: 0, waitId: "0@2", error };
    const late = { type: "timedOut", version: event.version + 1, at: 9_500, ...step } as const;
    const ended = apply(flow, apply(flow, snapshot, timed), late);
    expect(ended.status).toBe("failed");
    const again = reopenRun({ ...history, head: snapshotHead(ended), events: [...events, timed, late] }, false)!;
    expect(again.snapshot.childStates!["0#1"]).toEqual(open.childStates!["0#1"]);
  });

  it("leaves items alone that had failed in the execution from which it was forked", () => {
    const item = { id: "item", nodes: [{ id: "n", type: "noop" }], edges: [] };
    const flow = graph(["m>z"], [], { workflows: { item } as never });
    const tolerant = (snapshot: Snapshot): Event => {
      const event = spawned(snapshot) as Event & { children: { map: object } };
      return { ...event, children: { ...event.children, map: { ...event.children.map, tolerated: 1 } } } as Event;
    };
    const no = { error: "no", retryAt: null };
    const { snapshot } = lived(flow, startedAt(flow, "m"), tolerant, inChild("0#1/0", no));
    const checkpoint = takeCheckpoint(snapshot, { reason: "fork", laterMs: 0, runsCode: false });
    const { snapshot: ended, history } = lived(flow, startedAt(flow, "m", { checkpoint }), inChild("0#1/1", no));
    expect(ended.status).toBe("failed");
    const { childStates } = reopenRun(history, false)!.snapshot;
    expect(Object.values(childStates!).map(({ status }) => status)).toEqual(["failed", "active"]);
  });

  it("counts its parts that failed earlier only while their scopes are open", () => {
    const flow = graph(["f>a", "f>b", "b>c"], [], { onFailure: "finish" });
    const { snapshot, events } = lived(flow, startedAt(flow, "f"), done("0"), failed("0"), failed("0.1"));
    const history = { head: snapshotHead(snapshot), events, workflowOf: () => flow };
    const event = restarted(flow, history);
    const open = apply(flow, snapshot, event);
    expect(standing(open).sort()).toEqual(["a ready", "b ready"]);
    const cancelled: Event = { type: "cancelled", version: open.version + 1, at: 9_500 };
    const again = { ...history, events: [...events, event, cancelled] as unknown as RunHistory["events"] };
    expect(standing(reopenRun(again, false)!.snapshot).sort()).toEqual(["a ready", "b ready"]);
  });
});

const path = (more: Partial<ActivePath>): ActivePath => ({
  ...{ id: "0", nodeId: "a", status: "ready", turn: 3, visit: 2, attempts: 1, since: 4, stepPath: [] },
  ...more,
});
const child = (more: Partial<ChildState>): ChildState => ({
  ...{ workflow: "inner", status: "active", currentNodeId: "a", activePaths: [], version: 3, context: {} },
  ...more,
});
const flow = graph(["a>b"]);
const plain = (more: Partial<Snapshot>): Snapshot => ({ ...fold(flow, [startedAt(flow, "a")]), ...more });

describe("the state of a restart", () => {
  it("moves every time, and has what the execution holds besides its results", () => {
    const given = plain({
      activePaths: [
        path({ status: "retrying", nextRetryAt: 100 }),
        path({ id: "0.1", status: "suspended", waits: [{ id: "w", kind: "external", timeoutAt: 50 }] }),
      ],
      childStates: { "0#1": child({ deadlineAt: 70 }), "0#2": child({}) },
      rounds: { "j|": { got: ["e"] } },
      begun: [{ pathId: "0", nodeId: "a" }],
      mapItems: { "0#1": [1] },
      closing: { status: "completed", nodeId: null },
      inbox: [{ name: "go", expiresAt: 10 }],
      variables: { x: [{ value: 1, version: 0 }] },
    });
    const state = restartState(given, { ...terms, laterMs: 1_000 });
    expect(state).toMatchObject({
      activePaths: [{ nextRetryAt: 1_100 }, { waits: [{ timeoutAt: 1_050 }] }],
      childStates: { "0#1": { deadlineAt: 1_070 } },
      ...{ rounds: given.rounds, begun: given.begun, mapItems: given.mapItems, closing: given.closing, inbox: [{ expiresAt: 1_010 }] },
    });
    expect(state.variables).toEqual(given.variables);
    expect(restartState(given, { ...terms, ahead: 8 })).toMatchObject({
      activePaths: [{ turn: 11, visit: 11, forks: 8 }, {}],
    });
  });

  it("waits again for detached executions that are taken over, and performs other steps that wait for messages once more", () => {
    const waits = (kind: "child" | "delivery", id: string) => [{ id, kind, workflowId: "kid" }];
    const given = plain({
      activePaths: [
        path({ status: "suspended", waits: waits("child", "0@2") }),
        path({ id: "1", status: "suspended", waits: waits("child", "1@2") }),
        path({ id: "2", status: "suspended", waits: waits("delivery", "2@2") }),
      ],
    });
    const adopts = [{ type: "adopt" as const, to: "kid", waitId: "0@2" }];
    const { activePaths, outbox } = restartState(given, { ...terms, adopts });
    expect(activePaths).toMatchObject([
      { status: "suspended", turn: 3, visit: 2 },
      { status: "ready", turn: 4, visit: 4, attempts: 0 },
      { status: "ready", turn: 4, visit: 2 },
    ]);
    expect(outbox).toEqual([{ id: "5.0", ...adopts[0] }]);
  });
});

describe("an execution that is restarted with another definition", () => {
  const refused = (given: Snapshot, workflow: CompiledWorkflow, missing: string): void =>
    expect(() => fitted(given, workflow)).toThrow(
      expect.objectContaining({ code: "DEFINITION_CHANGED", details: expect.objectContaining({ missing: [missing] }) }),
    );

  it("must have the nodes, the joins and the sub-workflows at which it stands", () => {
    const inner = { id: "inner", nodes: [{ id: "a", type: "noop" }], edges: [] };
    const around = graph(["a>b"], [], { workflows: { inner } as never });
    const inside = plain({
      childStates: { "0#1": child({ activePaths: [path({})] }), "0#2": child({ status: "completed", currentNodeId: null }) },
    });
    expect(fitted(inside, around).childStates).toEqual(inside.childStates);
    refused(inside, flow, "a");
    refused(plain({ childStates: { "0#2": child({ status: "completed", currentNodeId: null }) } }), flow, "inner");
    refused(plain({}), graph(["x>y"]), "a");
    refused(plain({ activePaths: [path({ nodeId: "b", status: "joining", via: "a>b" })] }), flow, "b");
    const joined = graph(["a>b"], [{ id: "b", type: "noop", join: "all" }]);
    const joining = plain({ activePaths: [path({ nodeId: "b", status: "joining", via: "a>b" })] });
    expect(fitted(joining, joined).activePaths).toEqual(joining.activePaths);
    refused(plain({ activePaths: [path({ nodeId: "b", status: "joining", via: "c>b" })] }), joined, "b");
  });

  it("lets paths go that nothing holds any more", () => {
    const held = plain({ activePaths: [path({ status: "held" })] });
    expect(fitted(held, flow).activePaths).toMatchObject([{ status: "ready" }]);
    for (const more of [{ when: "1 == 2" }, { mutex: "m" }])
      expect(fitted(held, graph(["a>b"], [{ id: "a", type: "noop", ...more }])).activePaths).toEqual(held.activePaths);
  });
});
