import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/snapshot/event.ts";
import type { Wait } from "../../../src/core/snapshot/parts/wait.ts";
import type { ActivePath, ChildHead, SnapshotHead } from "../../../src/core/snapshot/snapshot.ts";
import type { Json } from "../../../src/core/values/json.ts";
import { memoryStore } from "../../../src/stores/databases/memory/index.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/index.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { recorded } from "../values/values.fixture.ts";

const keys = [{ id: "k", key: new Uint8Array(32).fill(1) }];
const searchKey = new Uint8Array(32).fill(2);

let count = 0;
/** Makes a unique text that must never be stored unencrypted. */
const secret = (): string => `canary-${++count}`;
const deep = (): Json => ({ [secret()]: [secret(), { [secret()]: secret() }] });

const error = () => ({
  name: secret(),
  message: secret(),
  code: secret(),
  nodeId: "step",
  stack: secret(),
  cause: { name: secret(), message: secret(), code: secret(), item: 0 },
});
const wait = (): Wait => ({
  ...{ id: "0@1", kind: "external", payload: deep(), schema: { const: secret() }, signal: secret(), key: secret(), timeoutAt: 9 },
  ...{ responders: [secret()], quorum: 2, tally: secret(), answers: [{ by: secret(), at: 1, payload: deep() }] },
  ...{ typeSchema: "s", refused: { at: 1, who: secret(), issues: [{ pointer: secret(), message: secret() }] } },
});
const task = { pathId: "0", nodeId: "step", attempt: 1, at: 5, turn: 1, startedAt: 4 };
const start = () => ({ workflowId: "child", definition: { id: "d", hash: "h" }, input: deep() });
const result = () => ({ output: deep(), timestamp: 1, attempt: 1, error: secret(), pathId: "0", version: 1 });

const path: ActivePath = {
  ...{ id: "0", nodeId: "step", status: "suspended", turn: 1, visit: 0, attempts: 0, since: 0, stepPath: ["step"] },
};

const events: readonly ((version: number) => Event & { future?: Json })[] = [
  (version) => ({ ...task, version, type: "completed", output: deep(), starts: start(), future: deep() }),
  (version) => ({ ...task, version, type: "completed", output: deep(), variables: { total: deep(), list: [secret()] } }),
  (version) => ({ ...task, version, type: "completed", scope: "x", output: deep(), variables: { own: secret() } }),
  (version) => ({ ...task, version, type: "failed", error: error(), retryAt: 9 }),
  (version) => ({ ...task, version, type: "failed", error: error(), retryAt: null, handle: "error" }),
  (version) => ({ ...task, version, type: "suspended", waits: [wait(), wait()], starts: start(), schemas: { s: { const: secret() } } }),
  (version) => {
    const issues = [{ pointer: secret(), message: secret() }];
    return { ...task, version, type: "answerRefused", waitId: "0@1", answer: 1, who: secret(), issues };
  },
  (version) => {
    const map = { items: [deep(), secret(), [secret()]], concurrency: 1, remaining: "finish", tolerated: 0 } as const;
    return { ...task, version, type: "spawned", visit: 1, children: { workflow: "inner", input: deep(), map } };
  },
  (version) => {
    const told = { payload: deep(), who: secret(), idempotencyKey: secret() };
    return { version, at: 5, type: "resumed", pathId: "0", waitId: "0@1", by: "payload", ...told };
  },
  (version) => {
    return { version, at: 5, type: "signalled", name: secret(), key: secret(), payload: deep(), expiresAt: 9, idempotencyKey: secret() };
  },
  (version) => ({ ...task, version, type: "timedOut", waitId: "0@1", error: error(), handle: "timeout" }),
  (version) => ({ version, at: 5, type: "cancelled", scope: "x", reason: secret() }),
  (version) => ({ version, at: 5, type: "itemAdded", pathId: "0", item: deep() }),
  (version) => ({
    ...{ ...task, version, type: "completed", output: secret() },
    consequences: { results: [{ nodeId: "join", result: result() }], ended: [{ pathId: "1", nodeId: "x", reason: "late" }] },
  }),
];

/** The events with which a run begins, or goes on after its end. */
const runEvents: typeof events = [
  (version) => ({
    ...{
      ...task,
      version,
      type: "continued",
      run: 2,
      quick: 1,
      totalExecutionTime: 5,
      definition: { id: "d", hash: "h" },
      firstNodeId: "step",
    },
    ...{ input: deep(), metadata: { [secret()]: secret(), [secret()]: deep() }, variables: { total: deep() } },
    inbox: [{ name: secret(), key: secret(), payload: deep(), expiresAt: 9 }],
  }),
  (version) => ({
    ...{ version, at: 5, type: "restarted", definition: { id: "d", hash: "h" }, dropsCompensations: true },
    state: {
      ...{ sizeBytes: 5, activePaths: [{ ...path, waits: [wait()] }], variables: { total: [{ value: deep(), version: 1 }] } },
      ...{ mapItems: { "0#9": [deep(), secret()] }, inbox: [{ name: secret(), payload: deep(), expiresAt: 9 }] },
      ...{ childStates: { "0#9": { ...heads().child, context: { step: [{ ...result(), output: [secret()] }] } } } },
    },
  }),
];

/** A head and a child with secrets in every place that may hold one. */
function heads(): { readonly head: Partial<SnapshotHead>; readonly child: ChildHead } {
  const resumed = { by: "signal", payload: deep(), suspendPayload: deep(), signal: secret(), key: secret(), who: secret() } as const;
  const scope = {
    activePaths: [{ ...path, waits: [wait()], resumed }],
    output: deep(),
    error: error(),
    ending: { status: "failed", nodeId: "x", error: error(), begun: [] },
  } satisfies Partial<SnapshotHead>;
  const outbox = [
    { id: "1", to: "child", type: "start", input: deep(), definition: { id: "d", hash: "h" } },
  ] satisfies SnapshotHead["outbox"];
  const inbox = [{ name: secret(), key: secret(), payload: deep(), expiresAt: 9 }];
  return {
    head: { ...scope, inbox, outbox, ...({ progress: deep() } as object) },
    child: { ...scope, workflow: "inner", status: "active", currentNodeId: "step", version: 1, input: deep() },
  };
}

describe("an encrypted store", () => {
  it("shows the store below nothing of what users put into executions", async () => {
    const { store: inner, told } = recorded(memoryStore());
    const store = encryptedStore(inner, { keys, searchKey });
    const metadata = { [secret()]: secret(), [secret()]: deep(), number: secret() };
    const permit = { key: secret(), limit: 2 };
    const commits = [
      startCommit("order-1", { input: deep(), metadata, head: { ...heads().head, permit }, children: [{ key: "x", head: heads().child }] }),
    ];
    const started = { ...commits[0]!.events[0]!, payload: deep(), permit } as Event;
    commits[0] = { ...commits[0]!, events: [started] };
    for (const event of events) {
      const { head, child } = heads();
      commits.push(stepCommit(commits.at(-1)!, { event, head, children: [{ key: "x", head: child }] }));
    }
    await store.create(commits[0]!);
    for (const commit of commits.slice(1)) await store.commit(commit);
    await store.putDefinition("h", { id: "d", nodes: [{ id: "a", type: "noop", data: deep() }], edges: [], description: secret() });
    const [[name, value]] = Object.entries(metadata) as [[string, string]];
    const found = await store.list({ metadata: { [name]: value } });

    const claimed = await claimAndLoad(store, { owner: "worker", leaseMs: 1000, limit: 1, permit: permit.key });

    expect(found.items).toMatchObject([{ workflowId: "order-1", metadata }]);
    expect(claimed.map(({ snapshot }) => snapshot.permit)).toEqual([permit]);
    expect(await store.load("order-1")).toEqual(snapshotAfter(...commits));
    const stored = JSON.stringify([await inner.load("order-1"), await inner.events("order-1", -1, 100), await inner.list()]);
    expect(count).toBeGreaterThan(500);
    expect(told.length).toBeGreaterThan(commits.length);
    expect([...told, stored].flatMap((text) => text.match(/canary-\d+/g) ?? [])).toEqual([]);
  });

  it("encrypts what a run takes over from the one before, or from before its end", async () => {
    const inner = memoryStore();
    const store = encryptedStore(inner, { keys });
    const commits = [startCommit("order-1")];
    for (const event of runEvents) commits.push(stepCommit(commits.at(-1)!, { event, head: { run: { number: 2, since: 1, at: 5 } } }));
    await store.create(commits[0]!);
    for (const commit of commits.slice(1)) await store.commit(commit);
    expect((await store.events("order-1", 0, 2)).map(({ event }) => event)).toEqual(commits.slice(1).flatMap((commit) => commit.events));
    const stored = await inner.events("order-1", 0, 2);
    expect(JSON.stringify(stored).match(/.{80}canary-\d+/g) ?? []).toEqual([]);
    expect(stored[0]!.event).toMatchObject({ run: 2, quick: 1, definition: { id: "d", hash: "h" }, firstNodeId: "step" });
    expect(stored[1]!.event).toMatchObject({ dropsCompensations: true, state: { activePaths: [{ id: "0", nodeId: "step" }] } });
    expect((await inner.loadHead("order-1"))!.run).toEqual({ number: 2, since: 1, at: 5 });
  });

  it("leaves ids, statuses and times for the database to read", async () => {
    const inner = memoryStore();
    const first = startCommit("order-1", { definitionId: "order" });
    const second = stepCommit(first, { nodeId: "charge", status: "paused", wakeAt: 77 });
    const store = encryptedStore(inner, { keys });
    await store.create(first);
    await store.commit(second);
    expect(await inner.load("order-1")).toMatchObject({
      ...{ workflowId: "order-1", definition: { id: "order" }, status: "paused", currentNodeId: "step", version: 1 },
      context: { charge: [{ attempt: 1, pathId: "0", version: 1 }] },
    });
    expect((await inner.list({ status: ["paused"], definitionId: "order" })).items).toMatchObject([{ wakeAt: 77 }]);
  });
});
