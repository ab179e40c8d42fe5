import { describe, expect, it } from "vitest";
import { asking, type Coded, deferred, flowOf, giving, type NodeParts } from "../../test/engine/engine.fixture.ts";
import { settled, VirtualEnvironment } from "../../test/engine/virtual-environment.fixture.ts";
import type { Event } from "../core/snapshot/event.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import { apply, fold } from "../core/transition/apply.ts";
import { begin } from "../core/transition/begin.ts";
import { closeDraft } from "../core/transition/draft/close-draft.ts";
import type { Draft } from "../core/transition/draft/draft.ts";
import { openDraft } from "../core/transition/draft/open-draft.ts";
import { defaultLimits } from "../core/values/limits.ts";
import { Deadlines } from "../environment/system-environment.ts";
import { openTurn } from "./open-turn.ts";
import { Secrets } from "./secrets/secrets.ts";
import type { TurnRequest } from "./turn-options.ts";
import { prepareWorkflow } from "./workflow/prepared-workflow.ts";
import { startEvent } from "./workflow/start-event.ts";

/** Makes a turn as a runtime does. The option `commit` of the request gets the events. */
function turnOf(
  code: Readonly<Record<string, Coded>>,
  edges: readonly string[],
  request: Omit<TurnRequest, "secrets">,
  parts: NodeParts = {},
) {
  const clock = new VirtualEnvironment();
  const definitions = Object.fromEntries(
    Object.entries(code).map(([id, coded]) => [`${id}-type`, typeof coded === "function" ? { executor: coded } : coded]),
  );
  const prepared = prepareWorkflow(flowOf(code, edges, parts), definitions as never);
  const event = startEvent(prepared, {}, clock, defaultLimits);
  const draft = begin(prepared.compiled, event);
  const setting = {
    environment: clock,
    deadlines: new Deadlines(clock),
    limits: defaultLimits,
    stepTimeoutMs: 1_000,
    plugins: [],
    logger: null,
    keepStacks: false,
    may: null,
    intercept: null,
    workflowNamed: () => prepared,
  };
  return {
    clock,
    workflow: prepared.compiled,
    first: fold(prepared.compiled, [event]),
    turn: openTurn(prepared, draft, setting, { ...request, secrets: new Secrets(undefined) }),
  };
}

/** A `commit` that records the events. */
function ledger() {
  const commits: string[] = [];
  const commit = async (events: readonly Event[], { version }: Draft, last: boolean): Promise<null> => {
    await settled();
    commits.push(`${events.map(({ type, version }) => `${type} ${version}`).join(", ")} -> ${version}${last ? " last" : ""}`);
    return null;
  };
  return { commits, commit };
}

describe("a turn with a store", () => {
  it("commits every event before anything follows from it, and knows which commit is the last", async () => {
    const { commits, commit } = ledger();
    const told: string[] = [];
    const { turn } = turnOf(
      {
        a: () => {
          told.push(`a after ${commits.length}`);
          return { data: 1 };
        },
        b: () => {
          told.push(`b after ${commits.length}`);
          return { data: 1 };
        },
      },
      ["a>b"],
      {
        commit,
        onEvent: ({ version }) => told.push(`event ${version} after ${commits.length}`),
      },
    );
    await turn.run();
    expect(commits).toEqual(["completed 1 -> 1", "completed 2 -> 2 last"]);
    expect(told).toEqual(["a after 0", "event 1 after 1", "b after 1", "event 2 after 2"]);
  });

  it("commits together what settled together", async () => {
    const { commits, commit } = ledger();
    const { turn } = turnOf({ f: giving(1), a: giving(1), b: giving(1) }, ["f>a", "f>b"], { commit });
    await turn.run();
    expect(commits).toEqual(["completed 1 -> 1", "completed 2, completed 3 -> 3 last"]);
  });

  it("calls the commit of a pause the last, and that of a slice", async () => {
    const pause = ledger();
    await turnOf({ a: asking() }, [], { commit: pause.commit }).turn.run();
    expect(pause.commits).toEqual(["suspended 1 -> 1 last"]);
    const slice = ledger();
    const { turn } = turnOf({ a: giving(1), b: giving(2) }, ["a>b"], { commit: slice.commit, stepLimit: 1 });
    await turn.run();
    expect(slice.commits).toEqual(["completed 1 -> 1 last"]);
    expect(turn.draft.paths[0]?.nodeId).toBe("b");
  });

  it("does not call a commit the last while a timer is due", async () => {
    const { commits, commit } = ledger();
    await turnOf({ a: asking("p", { resumeAt: 5 }) }, [], { commit }).turn.run();
    expect(commits).toEqual(["suspended 1, resumed 2 -> 2", "completed 3 -> 3 last"]);
  });

  it("ends, and its steps get their signal, when a commit fails", async () => {
    let signal: AbortSignal | undefined;
    const { turn } = turnOf(
      {
        f: giving(1),
        a: giving(1),
        b: (_, step) => {
          signal = step.signal;
          return new Promise(() => undefined);
        },
      },
      ["f>a", "f>b"],
      {
        commit: async (_events, { version }) => {
          if (version > 1) throw new RangeError("disk full");
          return null;
        },
      },
    );
    await expect(turn.run()).rejects.toThrow("disk full");
    expect(signal?.aborted).toBe(true);
  });
});

describe("a step that ends while a commit is under way", () => {
  it("is applied, and not performed again", async () => {
    const ran: string[] = [];
    const note = (id: string) => async () => {
      ran.push(id);
      return { data: id };
    };
    const { commits, commit } = ledger();
    const { turn } = turnOf({ f: giving(1), a: giving(2), b: note("b"), c: note("c") }, ["f>a", "f>b", "a>c"], { commit });
    await turn.run();
    expect(ran).toEqual(["b", "c"]);
    expect(commits.at(-1)).toContain("last");
    expect(closeDraft(turn.draft)).toMatchObject({ status: "completed", steps: 4 });
  });
});

describe("a turn that is not alone", () => {
  it("moves to what somebody else committed, and keeps the outcomes that are still wanted", async () => {
    const commits: number[] = [];
    let stored: Snapshot | null = null;
    let ran = 0;
    const { turn, first, workflow } = turnOf(
      {
        f: giving(1),
        a: async () => {
          ran++;
          return { data: "a" };
        },
        b: asking(),
      },
      ["f>a", "f>b"],
      {
        commit: async (events, draft) => {
          commits.push(draft.version);
          if (events.some(({ type }) => type === "completed") && draft.version > 1 && !stored) {
            // another process has resumed b in between
            const forked = fold(workflow, [{ ...startedOf(first) } as never, done(first, "f")]);
            const paused = apply(workflow, forked, { ...suspension(forked) });
            stored = apply(workflow, paused, {
              type: "resumed",
              version: paused.version + 1,
              at: 1,
              pathId: "0.1",
              waitId: "0.1@2",
              by: "payload",
              payload: "yes",
            });
            return stored;
          }
          return null;
        },
      },
    );
    await turn.run();
    const end = closeDraft(turn.draft);
    expect(end).toMatchObject({
      status: "completed",
      context: { a: [{ output: "a" }], b: [{ output: { by: "payload", payload: "yes" } }] },
    });
    expect(ran).toBe(1);
    expect(end.version).toBe(5);
  });

  it("ends when it is drained while it announces a step that somebody else's commit has made due", async () => {
    let stored: Snapshot | null = null;
    const asked: unknown[] = [];
    const { turn, first, workflow } = turnOf(
      {
        f: giving(1),
        a: async () => ({ data: "a" }),
        b: (_, step) => {
          asked.push(step.resumed ?? null);
          return step.suspend();
        },
      },
      ["f>a", "f>b"],
      {
        commit: async (events) => {
          if (stored && events.some(({ type }) => type === "begun")) turn.drain();
          if (stored || !events.some((event) => event.type === "completed" && event.nodeId === "a")) return null;
          const forked = fold(workflow, [{ ...startedOf(first) } as never, done(first, "f")]);
          const paused = apply(workflow, forked, { ...suspension(forked) });
          const resumed = { type: "resumed", version: paused.version + 1, at: 1, pathId: "0.1", waitId: "0.1@2", by: "payload" } as const;
          stored = apply(workflow, paused, { ...resumed, payload: "yes" });
          return stored;
        },
      },
      { b: { compensate: { type: "f-type" } } },
    );
    await turn.run();
    expect(asked).toEqual([null]);
    expect(turn.draft.ended).toBeNull();
    expect(closeDraft(turn.draft).activePaths).toMatchObject([{ nodeId: "b", status: "ready" }]);
  });

  it("drops the outcome of a step that was cancelled meanwhile, and tells the step", async () => {
    const gate = deferred<{ data: number }>();
    let signal: AbortSignal | undefined;
    const { turn, first, workflow } = turnOf(
      {
        a: (_, step) => {
          signal = step.signal;
          return gate.promise;
        },
      },
      [],
      { commit: async () => null },
    );
    const running = turn.run();
    await settled();
    turn.refresh(apply(workflow, first, { type: "cancelled", version: 1, at: 1 }));
    await running;
    expect(signal?.aborted).toBe(true);
    gate.resolve({ data: 1 });
    await settled();
    expect(closeDraft(turn.draft)).toMatchObject({ status: "cancelled", version: 1, context: {} });
  });

  it("drops an outcome where a conflicting commit has ended the execution", async () => {
    const calls: number[] = [];
    const { turn, first, workflow } = turnOf({ a: giving(1) }, [], {
      commit: async (_, { version }) => {
        calls.push(version);
        return apply(workflow, first, { type: "cancelled", version: 1, at: 1 });
      },
    });
    await turn.run();
    expect(calls).toEqual([1]);
    expect(closeDraft(turn.draft).status).toBe("cancelled");
  });

  it("is not moved by news that are old, and goes on with steps that are still wanted", async () => {
    const gate = deferred<{ data: number }>();
    const { turn, first } = turnOf({ a: () => gate.promise }, [], { commit: async () => null });
    const running = turn.run();
    await settled();
    turn.refresh(first);
    await settled();
    gate.resolve({ data: 7 });
    await running;
    expect(closeDraft(turn.draft)).toMatchObject({ status: "completed", output: 7 });
  });

  it("keeps a step that the news still want, beside one that they do not", async () => {
    const gates = { a: deferred<{ data: string }>(), b: deferred<{ data: string }>() };
    const { turn, workflow } = turnOf({ f: giving(1), a: () => gates.a.promise, b: () => gates.b.promise }, ["f>a", "f>b"], {
      commit: async () => null,
    });
    const running = turn.run();
    await settled();
    const forked = closeDraft(turn.draft);
    const elsewhere = apply(workflow, forked, { ...done(forked, "a"), output: "elsewhere", pathId: "0", turn: 2 } as Event);
    turn.refresh(elsewhere);
    await settled();
    gates.a.resolve({ data: "here" });
    gates.b.resolve({ data: "b" });
    await running;
    expect(closeDraft(turn.draft)).toMatchObject({
      status: "completed",
      version: 3,
      context: { a: [{ output: "elsewhere" }], b: [{ output: "b" }] },
    });
  });
});

describe("a turn that is drained", () => {
  it("begins nothing more, and ends once what is under way has", async () => {
    const gate = deferred<{ data: number }>();
    const { commits, commit } = ledger();
    const { turn } = turnOf({ a: () => gate.promise, b: giving(2) }, ["a>b"], { commit });
    const running = turn.run();
    await settled();
    turn.drain();
    await settled();
    gate.resolve({ data: 1 });
    await running;
    expect(commits).toEqual(["completed 1 -> 1 last"]);
    expect(closeDraft(turn.draft)).toMatchObject({ status: "active", currentNodeId: "b" });
  });
});

function startedOf({ workflowId, definition, incarnation, createdAt, metadata }: Snapshot): object {
  return { type: "started", version: 0, at: createdAt, workflowId, definition, incarnation, nodeId: "f", metadata };
}

function done(snapshot: Snapshot, nodeId: string): Event {
  return { type: "completed", version: snapshot.version + 1, at: 1, pathId: "0", turn: 1, nodeId, attempt: 1, startedAt: 1, output: 1 };
}

function suspension(forked: Snapshot): Event {
  return {
    type: "suspended",
    version: forked.version + 1,
    at: 1,
    pathId: "0.1",
    turn: 1,
    nodeId: "b",
    attempt: 1,
    startedAt: 1,
    waits: [{ id: "0.1@2", kind: "external" }],
  };
}

it("opens drafts that share nothing with their snapshot", () => {
  const { first, workflow } = turnOf({ a: giving(1) }, [], {});
  const draft = openDraft(workflow, first);
  draft.paths[0]!.stepPath.push("x");
  expect(first.activePaths[0]?.stepPath).toEqual([]);
});
