import { beforeAll, describe, expect, it } from "vitest";
import { changed, expectRefused } from "../../../test/core/changed.fixture.ts";
import { bench, flow } from "../../../test/nodes/workflow.fixture.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { readSnapshot } from "./read-snapshot.ts";

const made = flow(
  "flow",
  {
    f: "noop",
    approve: ["approval", { responders: ["ada", "bob", "cy"], quorum: 2, timeout: "1h" }],
    race: ["race", { signals: [{ name: "go" }, { name: "stop", key: "k" }], timer: { for: "1h" } }],
    first: "noop",
    second: "approval",
    j: "noop",
  },
  ["f>approve", "f>race", "f>first", "f>second", "first>j", "second>j@approved", "approve>j@approved", "race>j@go"],
) as { nodes: { id: string }[] };
const workflow = {
  ...made,
  nodes: made.nodes.map((node) => (node.id === "j" ? { ...node, join: 2 } : node.id === "second" ? { ...node, mutex: "m" } : node)),
};
const { engine } = bench(workflow);
const refused = (changes: Record<string, unknown>, pointer: string, reason = ""): void =>
  expectRefused(engine.workflow, snapshot, changes, pointer, reason);

/** Path 0 asks three people, and one has answered; 0.1 has several waits; 0.2 waits at the join j; 0.3 is ready to go on with an answer. */
let snapshot: Snapshot;

beforeAll(async () => {
  const begun = await engine.execute({ workflowId: "w" });
  const once = await engine.send(begun, { type: "resume", target: "approve", payload: { approved: true }, by: "ada" });
  const twice = await engine.send(once, { type: "signal", name: "early", key: "k", payload: 5 });
  snapshot = await engine.send(twice, { type: "resume", target: "second", payload: { approved: true }, by: "dan" });
});

describe("a snapshot with paths that wait", () => {
  it("is given back as it was", () => {
    expect(snapshot.activePaths.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "0 suspended",
      "0.1 suspended",
      "0.2 joining",
      "0.3 ready",
    ]);
    expect(snapshot.activePaths[0]?.waits?.[0]?.answers).toHaveLength(1);
    expect(readSnapshot(changed(snapshot, {}), engine.workflow)).toEqual(snapshot);
  });

  it.each<[pointer: string, value: unknown, reason: string]>([
    ["/activePaths/0/waits/0/id", "0@9", 'must be "0@3"'],
    ["/activePaths/0/waits/0/id", "0@3.0", 'must be "0@3"'],
    ["/activePaths/1/waits/1/id", "0.1@2", "must be unique"],
    ["/activePaths/1/waits/1/id", "0.1@2x1", "must be unique"],
    ["/activePaths/1/waits/0/signal", undefined, "name a signal"],
    ["/activePaths/1/waits/0/signal", "", "name a signal"],
    ["/activePaths/1/waits/1/key", 5, "text"],
    ["/activePaths/1/waits/0/transient", false, "true"],
    ["/activePaths/1/waits/2/resumeAt", undefined, "a time in milliseconds"],
    ["/activePaths/1/waits/2/resumeAt", 8.65e15, "8.64e15"],
    ["/activePaths/1/waits/2/openedAt", "now", "number of milliseconds"],
    ["/activePaths/1/waits/2/workflowId", "w", 'the kind is "child"'],
    ["/activePaths/0/waits/0/responders", "ada", "list of names"],
    ["/activePaths/0/waits/0/responders", [5], "list of names"],
    ["/activePaths/0/waits/0/quorum", 0, "of at least 1"],
    ["/activePaths/0/waits/0/quorum", 4, "responders"],
    ["/activePaths/0/waits/0/tally", 5, "text"],
    ["/activePaths/0/waits/0/answers", {}, "list of answers"],
    ["/activePaths/0/waits/0/answers/0", 5, "by and at"],
    ["/activePaths/0/waits/0/answers/0/by", "", "who"],
    ["/activePaths/0/waits/0/answers/0/at", undefined, "a time"],
    ["/activePaths/0/waits/0/timeoutAt", -1, "milliseconds"],
    ["/activePaths/3/resumed/by", "nobody", "must be one of"],
    ["/activePaths/3/resumed/who", 5, "text"],
    ["/activePaths/3/resumed/schema", 5, ""],
    ["/activePaths/3/resumed/answers", [{}], ""],
    ["/activePaths/0/waits/0/typeSchema", 5, "text"],
    ["/activePaths/0/waits/0/refused", 5, "at and issues"],
    ["/activePaths/0/waits/0/refused", { issues: [] }, "a time"],
    ["/activePaths/0/waits/0/refused", { at: 1, who: 5, issues: [] }, "text"],
    ["/activePaths/0/waits/0/refused", { at: 1 }, "list of issues"],
    ["/activePaths/0/waits/0/refused", { at: 1, issues: [5] }, "pointer and message"],
    ["/activePaths/0/waits/0/refused", { at: 1, issues: [{ pointer: 5, message: "no" }] }, "text"],
    ["/activePaths/0/waits/0/refused", { at: 1, issues: [{ pointer: "", message: "" }] }, "what is wrong"],
    ["/activePaths/3/resumed/reopens", 5, "waitId and waits"],
    ["/activePaths/3/resumed/reopens", { waits: [{ id: "0@2", kind: "external" }] }, "id of a wait"],
    ["/activePaths/3/resumed/reopens", { waitId: "0@2", version: -1, waits: [{ id: "0@2", kind: "external" }] }, ""],
    ["/activePaths/3/resumed/reopens", { waitId: "0@2", waits: [] }, "has waited for"],
    ["/activePaths/3/resumed/reopens", { waitId: "0@2", waits: [5] }, "an object with an id"],
    ["/activePaths/3/resumed/reopens", { waitId: "0@2", waits: [{ kind: "external" }] }, ""],
    ["/activePaths/3/resumed/reopens", { waitId: "0@2", waits: [{ id: "0@2", kind: "child", workflowId: "w" }] }, "once more"],
    ["/activePaths/3/resumed/reopens", { waitId: "0@2", waits: [{ id: "0@2", kind: "incident" }] }, "once more"],
    ["/activePaths/3/id", "0>1", "id of a path"],
    ["/activePaths/3/id", "0.9", "will give"],
    ["/activePaths/3/id", "0.x", "will give"],
    ["/activePaths/0/forks", -1, "whole"],
    ["/activePaths/0/turn", 0, "from 1"],
    ["/activePaths/0/visit", 4, "from 1 to 3"],
    ["/activePaths/0/since", 99, "up to"],
    ["/activePaths/2/via", 5, "text"],
    ["/activePaths/2/stepPath", [], "came from"],
    ["/activePaths/0/waves", [], "visits"],
    ["/activePaths/0/waves", { f: 5 }, "visits"],
    ["/activePaths/0/inputs", {}, "list"],
    ["/activePaths/0/inputs", [{ version: 1 }], ""],
    ["/activePaths/0/inputs", [{ nodeId: "f" }], ""],
    ["/activePaths/0/draining", "yes", "true"],
    ["/rounds", [], "rounds"],
    ["/rounds", { j: { got: [] } }, ""],
    ["/rounds", { "f|": { got: [] } }, ""],
    ["/rounds", { "j|": { got: [5] } }, ""],
    ["/currentNodeId", 5, "id of a node"],
    ["/incarnation", 5, "text"],
    ["/retryState", 5, "object"],
    ["/retryState", {}, ""],
    ["/inbox", {}, "list"],
    ["/inbox/0", 5, "expiresAt"],
    ["/inbox/0/name", "", "name of a signal"],
    ["/inbox/0/key", 5, "text"],
    ["/inbox/0/expiresAt", undefined, "a time in milliseconds"],
  ])("is refused with %s = %j", (pointer, value, reason) => {
    expect(() => readSnapshot(changed(snapshot, { [pointer]: value }), engine.workflow)).toThrow(
      expect.objectContaining({
        code: "SNAPSHOT_INVALID",
        details: { pointer: expect.stringMatching(new RegExp(`^${pointer.replace(".", "\\.")}`)), reason: expect.stringContaining(reason) },
      }),
    );
  });

  it("is refused where a wait says what only another kind means", () => {
    const wait = "/activePaths/0/waits/0";
    refused({ [`${wait}/quorum`]: undefined }, `${wait}/tally`, 'together with "quorum"');
    refused({ [`${wait}/quorum`]: undefined, [`${wait}/tally`]: undefined }, `${wait}/answers`, 'together with "quorum"');
    refused({ [`${wait}/kind`]: "child" }, `${wait}/workflowId`, "must name an execution");
    const whole = { [`${wait}/kind`]: "child", [`${wait}/workflowId`]: "other", [`${wait}/quorum`]: undefined };
    const read = readSnapshot(
      changed(snapshot, { ...whole, [`${wait}/tally`]: undefined, [`${wait}/answers`]: undefined }),
      engine.workflow,
    );
    expect(read.activePaths[0]?.waits?.[0]).toMatchObject({ kind: "child", workflowId: "other" });
  });

  it("is refused where it says not which signal is to arrive, and where", () => {
    const wait = "/activePaths/0/waits/0";
    const plain = {
      [`${wait}/kind`]: "delivery",
      [`${wait}/quorum`]: undefined,
      [`${wait}/tally`]: undefined,
      [`${wait}/answers`]: undefined,
    };
    const payload = { workflowId: "other", signal: "paid" };
    refused({ ...plain, [`${wait}/payload`]: 5 }, `${wait}/payload`, "workflowId and signal");
    refused({ ...plain, [`${wait}/payload`]: { ...payload, workflowId: "" } }, `${wait}/payload/workflowId`, "must name an execution");
    refused({ ...plain, [`${wait}/payload`]: { ...payload, signal: 1 } }, `${wait}/payload/signal`, "must name a signal");
    const read = readSnapshot(changed(snapshot, { ...plain, [`${wait}/payload`]: payload }), engine.workflow);
    expect(read.activePaths[0]?.waits?.[0]).toMatchObject({ kind: "delivery", payload });
    // a signal to all executions that wait for it has a key in place of a `workflowId`
    const toAll = { signal: "paid", key: "k" };
    const all = readSnapshot(changed(snapshot, { ...plain, [`${wait}/payload`]: toAll }), engine.workflow);
    expect(all.activePaths[0]?.waits?.[0]).toMatchObject({ kind: "delivery", payload: toAll });
    refused({ ...plain, [`${wait}/payload`]: { signal: "paid" } }, `${wait}/payload/workflowId`, "must name an execution");
    refused({ ...plain, [`${wait}/payload`]: { ...toAll, key: 5 } }, `${wait}/payload/key`, "must be the key of a signal");
  });

  it("may leave out where a path came from, but not how many have forked off it", () => {
    const unknown = readSnapshot(changed(snapshot, { "/activePaths/0/stepPath": undefined }), engine.workflow);
    expect(unknown.activePaths[0]?.stepPath).toEqual([]);
    refused({ "/activePaths/0/forks": undefined }, "/activePaths/1/id", "will give");
  });

  it("is refused where a path waits and goes on, or waits for nothing", () => {
    refused({ "/activePaths/0/status": "ready" }, "/activePaths/0/waits", "must fit the status");
    refused({ "/activePaths/0/waits": undefined }, "/activePaths/0/waits", "what the path waits for");
  });

  it("is refused where all its paths wait for each other", () => {
    refused({ "/activePaths": [snapshot.activePaths[2]], "/status": "paused" }, "/activePaths", "each other");
  });

  it("that joins by an edge that is gone, or is held where nothing holds it, belongs to another definition", () => {
    for (const changes of [
      { "/activePaths/2/via": "gone" },
      { "/activePaths/2/via": undefined },
      { "/activePaths/3/status": "held", "/activePaths/3/nodeId": "f" },
    ])
      expect(() => readSnapshot(changed(snapshot, changes), engine.workflow)).toThrow(
        expect.objectContaining({ code: "DEFINITION_CHANGED" }),
      );
    const held = { "/activePaths/3/status": "held", "/status": "paused" };
    expect(readSnapshot(changed(snapshot, held), engine.workflow).activePaths[3]?.status).toBe("held");
  });

  it("keeps of its waves only those of nodes that are forks", () => {
    const waves = { f: "0#1", gone: "0#1" };
    expect(readSnapshot(changed(snapshot, { "/activePaths/0/waves": waves }), engine.workflow).activePaths[0]?.waves).toEqual({ f: "0#1" });
    expect(readSnapshot(changed(snapshot, { "/activePaths/0/waves": { gone: "0#1" } }), engine.workflow).activePaths[0]).not.toHaveProperty(
      "waves",
    );
  });
});

describe("a snapshot with messages to other executions", () => {
  const start = { id: "3.0", type: "start", to: "other", definition: { id: "d", hash: "h" }, waitId: "0@2", input: 1 };
  const outbox = [start, { id: "3.1", type: "cancel", to: "other", waitId: "0@2" }, { id: "4.0", type: "ended", to: "other" }];
  const parent = { workflowId: "outer", incarnation: "i", waitId: "0@2", depth: 1 };

  it("is given back as it was, also when all that is left is to tell them", () => {
    const read = readSnapshot(changed(snapshot, { "/outbox": outbox, "/parent": parent }), engine.workflow);
    expect(read).toEqual({ ...snapshot, outbox, parent });
    const over = { "/outbox": outbox, "/activePaths": [], "/ending": { status: "completed", nodeId: null, begun: [] } };
    expect(readSnapshot(changed(snapshot, over), engine.workflow)).toMatchObject({ status: "active", activePaths: [] });
    refused({ ...over, "/outbox": undefined }, "/activePaths", "empty");
    refused({ ...over, "/ending": undefined }, "/activePaths", "empty");
    refused({ ...over, "/status": "paused" }, "/status", 'must be "active"');
  });

  it.each<[change: Record<string, unknown>, pointer: string]>([
    [{ "/outbox": {} }, "/outbox"],
    [{ "/outbox": [] }, "/outbox"],
    [{ "/outbox/0": 5 }, "/outbox/0"],
    [{ "/outbox/0/id": "3" }, "/outbox/0/id"],
    [{ "/outbox/0/id": 3 }, "/outbox/0/id"],
    [{ "/outbox/1/id": "3.0" }, "/outbox/1/id"],
    [{ "/outbox/0/to": "" }, "/outbox/0/to"],
    [{ "/outbox/0/type": "stop" }, "/outbox/0/type"],
    [{ "/outbox/0/definition": undefined }, "/outbox/0/definition"],
    [{ "/outbox/0/definition/hash": 5 }, "/outbox/0/definition"],
    [{ "/outbox/0/waitId": 5 }, "/outbox/0/waitId"],
    [{ "/outbox/1/waitId": undefined }, "/outbox/1/waitId"],
    [{ "/parent": "outer" }, "/parent"],
    [{ "/parent/workflowId": "" }, "/parent/workflowId"],
    [{ "/parent/waitId": 5 }, "/parent/waitId"],
    [{ "/parent/depth": -1 }, "/parent/depth"],
  ])("is refused with %j", (change, pointer) => {
    refused({ "/outbox": outbox, "/parent": parent, ...change }, pointer);
  });

  it.each<[change: Record<string, unknown>, pointer: string]>([
    [{ "/outbox/0/workflow": undefined }, "/outbox/0/workflow"],
    [{ "/outbox/0/workflow": "" }, "/outbox/0/workflow"],
    [{ "/outbox/0/metadata": 5 }, "/outbox/0/metadata"],
    [{ "/outbox/0/scheduledBy": undefined }, "/outbox/0/scheduledBy"],
    [{ "/outbox/0/scheduledBy/at": undefined }, "/outbox/0/scheduledBy/at"],
    [{ "/outbox/1/schedule": 5 }, "/outbox/1/schedule"],
  ])("is refused where it is of a schedule with %j", (change, pointer) => {
    const scheduledBy = { schedule: "s", workflowId: "schedule:s", at: 5, reports: true };
    const root = { id: "3.0", type: "startRoot", to: "s@5", workflow: "w", metadata: { a: 1 }, scheduledBy };
    const messages = [root, { id: "3.1", type: "cancelRoot", to: "s@4", schedule: "s" }];
    expect(readSnapshot(changed(snapshot, { "/outbox": messages }), engine.workflow).outbox).toEqual(messages);
    refused({ "/outbox": messages, ...change }, pointer);
  });

  it.each<[change: Record<string, unknown>, pointer: string]>([
    [{ "/outbox/0/waitId": undefined }, "/outbox/0/waitId"],
    [{ "/outbox/0/name": "" }, "/outbox/0/name"],
    [{ "/outbox/0/key": 5 }, "/outbox/0/key"],
    [{ "/outbox/0/ttlMs": -1 }, "/outbox/0/ttlMs"],
  ])("is refused where it is a signal with %j", (change, pointer) => {
    const messages = [{ id: "3.0", type: "signal", to: "other", waitId: "0@2", name: "paid", key: "k", payload: 1, ttlMs: 5 }];
    expect(readSnapshot(changed(snapshot, { "/outbox": messages }), engine.workflow).outbox).toEqual(messages);
    refused({ "/outbox": messages, ...change }, pointer);
  });

  it.each<[change: Record<string, unknown>, pointer: string]>([
    [{ "/outbox/0/waitId": undefined }, "/outbox/0/waitId"],
    [{ "/outbox/0/name": "" }, "/outbox/0/name"],
    [{ "/outbox/0/key": undefined }, "/outbox/0/key"],
    [{ "/outbox/0/workflow": 5 }, "/outbox/0/workflow"],
  ])("is refused where it is a signal to all with %j", (change, pointer) => {
    const messages = [{ id: "3.0", type: "broadcast", waitId: "0@2", name: "paid", key: "k", workflow: "w", payload: 1 }];
    expect(readSnapshot(changed(snapshot, { "/outbox": messages }), engine.workflow).outbox).toEqual(messages);
    refused({ "/outbox": messages, ...change }, pointer);
  });

  it("may begin an execution that nobody waits for", () => {
    const { waitId: _, ...freely } = start;
    expect(readSnapshot(changed(snapshot, { "/outbox": [freely] }), engine.workflow).outbox).toEqual([freely]);
  });
});
