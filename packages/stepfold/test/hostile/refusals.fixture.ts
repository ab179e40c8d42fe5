import type { ErrorCode } from "../../src/core/errors/error-details.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import type { Command } from "../../src/engine/commands/command.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { viaJson } from "../engine/engine.fixture.ts";
import { VirtualEnvironment } from "../engine/virtual-environment.fixture.ts";

export const nodeDefinitions = {
  ...builtinNodes,
  ask: defineNode({
    resume: { type: "object", properties: { approved: { type: "boolean" } }, required: ["approved"] },
    executor: (_data, step) => (step.resumed ? { data: step.externalPayload } : step.suspend()),
  }),
  flaky: defineNode({
    retryPolicy: { maxAttempts: 3, interval: "1h", backoff: "fixed" },
    executor: () => Promise.reject(new Error("busy")),
  }),
};

const list = (more: object = {}) => ({ type: "map", data: { workflow: "item", items: [1], ...more } });
const nodes = {
  f: { type: "noop" },
  once: { type: "ask" },
  gone: { type: "ask" },
  ask: { type: "ask" },
  team: { type: "approval", data: { responders: ["ada", "bob"], quorum: 2 } },
  paid: { type: "signal", data: { name: "paid", schema: { type: "object", required: ["amount"] } } },
  flaky: { type: "flaky" },
  list: list({ open: true }),
  shut: list({ open: true }),
  fixed: list(),
};

/** A workflow whose execution waits in every way: for answers, several responders, a signal, a retry and open maps. */
export const refusing = {
  id: "refusing",
  nodes: Object.entries(nodes).map(([id, node]) => ({ id, ...node })),
  edges: Object.keys(nodes).flatMap((target) => (target === "f" ? [] : [{ source: "f", target }])),
  workflows: { item: { id: "item", input: { type: "number" }, nodes: [{ id: "pick", type: "approval" }], edges: [] } },
};

/** The commands that the execution gets first: `once` is answered, `gone` cancelled, `shut` closed, and one of the team has answered. */
export const before: readonly Command[] = [
  { type: "resume", target: "once", payload: { approved: true }, idempotencyKey: "click" },
  { type: "cancel", target: "gone" },
  { type: "closeMap", node: "shut" },
  { type: "resume", target: "team", payload: { approved: true }, by: "ada" },
  { type: "signal", name: "early", payload: 1, idempotencyKey: "first" },
];

/** Limits that let the inbox keep only two signals. */
export const onlyTwoEarly = { inbox: 2 };

/** Makes an engine and the execution after all commands of `before`. */
export async function waiting(): Promise<{ readonly engine: WorkflowEngine<typeof nodeDefinitions>; readonly snapshot: Snapshot }> {
  const environment = new VirtualEnvironment();
  const engine = new WorkflowEngine({ workflow: refusing, nodeDefinitions, environment, limits: onlyTwoEarly });
  let snapshot = await engine.execute({ workflowId: "w" });
  for (const command of before) {
    // only a runtime takes idempotency keys
    const told = { ...command, ...("idempotencyKey" in command && { idempotencyKey: undefined }) };
    snapshot = await engine.send(viaJson(snapshot), told);
    if (snapshot.activePaths.some(({ status }) => status === "ready")) snapshot = await engine.execute({ snapshot });
  }
  return { engine, snapshot: await engine.send(snapshot, { type: "signal", name: "early", payload: 2 }) };
}

/** A command that is refused. */
export interface Refusal {
  readonly what: string;
  readonly command: Command;
  readonly code: ErrorCode;
  /** The words that the message has to contain. */
  readonly says: readonly string[];
}

const approve = { approved: true };
const resume = (target?: object | string, more: object = {}): Command => ({ type: "resume", target, payload: approve, ...more }) as Command;
const signal = (name: unknown, more: object = {}): Command => ({ type: "signal", name, ...more }) as Command;
const refusal = (what: string, command: Command, code: ErrorCode, ...says: string[]): Refusal => ({ what, command, code, says });

const answers = [
  refusal("an answer that names no wait, where there are several", resume(), "RESUME_AMBIGUOUS", "ask (0.2@2)", "team", "list[0]/pick"),
  refusal("an answer to what was answered", resume("once"), "WAIT_GONE", "once", "ask (0.2@2)"),
  refusal("an answer to a path that was cancelled", resume("gone"), "WAIT_GONE", "gone", "Open waits: ask"),
  refusal("an answer to the cancelled wait by its id", resume({ waitId: "0.1@2" }), "WAIT_GONE", "0.1@2", "Open waits"),
  refusal("an answer to a node that was passed", resume("f"), "WAIT_GONE", "at f", "Open waits"),
  refusal("an answer to a node that is to be retried", resume("flaky"), "WAIT_GONE", "flaky", "Open waits"),
  refusal("an answer to a node that waits for a signal", resume("paid"), "WAIT_GONE", "paid", "Open waits"),
  refusal("an answer to the map and not to its items", resume("list"), "WAIT_GONE", "list", "list[0]/pick"),
  refusal("an answer to a wait there never was", resume("0@99"), "WAIT_GONE", "0@99", "Open waits"),
  refusal("an answer to a node there is not", resume("nowhere"), "NODE_UNKNOWN", "nowhere", "refusing"),
  refusal("an answer to an item there is not", resume({ node: "list", item: 7 }), "WAIT_GONE", "list[7]", "list[0]/pick"),
  refusal("an answer to an address there is not", resume("list[7]/pick"), "WAIT_GONE", "list[7]/pick", "list[0]/pick"),
  refusal("an answer to an item of what is no map", resume({ node: "ask", item: 0 }), "WAIT_GONE", "ask[0]", "Open waits"),
  refusal("an answer to less than the first item", resume({ node: "list", item: -1 }), "OPTION_INVALID", "target"),
  refusal("an answer to one of several items", resume("pick"), "RESUME_AMBIGUOUS", "list[0]/pick", "shut[0]/pick", "fixed[0]/pick"),
  refusal("an answer of another form", resume("ask", { payload: { approved: "yes" } }), "RESUME_INVALID", "ask", "/approved"),
  refusal("an answer without what is asked for", resume("ask", { payload: {} }), "RESUME_INVALID", "ask", "approved"),
  refusal("an answer of nothing", resume("ask", { payload: undefined }), "RESUME_INVALID", "ask"),
  refusal("an answer that is not JSON", resume("ask", { payload: { approved: 1n } }), "VALUE_NOT_JSON", "/approved"),
  refusal("an answer of somebody who is not named", resume("team", { by: "eve" }), "RESPONDER_DENIED", "eve", "ada, bob"),
  refusal("an answer of nobody", resume("team"), "RESPONDER_DENIED", "nobody", "by"),
  refusal("a second answer of the same person", resume("team", { by: "ada" }), "RESPONDER_DENIED", "ada", "already"),
  refusal("an answer by a name that is no text", resume("ask", { by: 5 }), "OPTION_INVALID", "by"),
];

const signals = [
  refusal("a signal without a name", signal(""), "OPTION_INVALID", "name"),
  refusal("a signal by a number", signal(7), "OPTION_INVALID", "name"),
  refusal("a signal with too long a name", signal("x".repeat(1_001)), "OPTION_INVALID", "name"),
  refusal("a signal with a key that is no text", signal("paid", { key: {} }), "OPTION_INVALID", "key"),
  refusal("a signal that is kept for no known time", signal("paid", { ttl: "soon" }), "DURATION_INVALID", "soon"),
  refusal("a signal of another form than is waited for", signal("paid", { payload: { amount_: 1 } }), "RESUME_INVALID", "paid", "amount"),
  refusal("a signal with a payload that is not JSON", signal("paid", { payload: { amount: Number.NaN } }), "VALUE_NOT_JSON", "/amount"),
  refusal("a signal too many that nobody waits for", signal("early"), "LIMIT_EXCEEDED", "inbox", "at most 2"),
];

const mapChanges = [
  refusal("an item for a map that was closed", { type: "addItem", node: "shut", item: 2 }, "MAP_CLOSED", "shut"),
  refusal("an item for a map that was never open", { type: "addItem", node: "fixed", item: 2 }, "MAP_CLOSED", "fixed"),
  refusal("an item for what is no map", { type: "addItem", node: "ask", item: 2 }, "MAP_CLOSED", "ask"),
  refusal("an item for a node there is not", { type: "addItem", node: "nowhere", item: 2 }, "MAP_CLOSED", "nowhere"),
  refusal("an item that its workflow does not take", { type: "addItem", node: "list", item: "two" }, "INPUT_INVALID", "item", "number"),
  refusal("an item that is not JSON", { type: "addItem", node: "list", item: () => 2 }, "VALUE_NOT_JSON", "item"),
  refusal("closing a map twice", { type: "closeMap", node: "shut" }, "MAP_CLOSED", "shut"),
  refusal("closing a map that was never open", { type: "closeMap", node: "fixed" }, "MAP_CLOSED", "fixed"),
  refusal("closing what is no map", { type: "closeMap", node: "ask" }, "MAP_CLOSED", "ask"),
  refusal("completing what is no map", { type: "completeMap", node: "ask" }, "MAP_CLOSED", "ask"),
];

const others = [
  refusal("a cancellation at a node there is not", { type: "cancel", target: "nowhere" }, "WAIT_GONE", "nowhere", "ask"),
  refusal("a cancellation at a node that nothing is at", { type: "cancel", target: "once" }, "WAIT_GONE", "once"),
  refusal("a second cancellation of a path", { type: "cancel", target: "gone" }, "WAIT_GONE", "gone"),
  refusal("a cancellation of a wait there is not", { type: "cancel", target: { waitId: "0.1@2" } }, "WAIT_GONE", "0.1@2"),
  refusal("a cancellation of an item there is not", { type: "cancel", target: { node: "list", item: 7 } }, "WAIT_GONE", "list[7]"),
  refusal("a cancellation of an item of what is no map", { type: "cancel", target: { node: "ask", item: 0 } }, "WAIT_GONE", "ask[0]"),
  refusal("a cancellation in several children at once", { type: "cancel", target: "pick" }, "RESUME_AMBIGUOUS", "pick"),
  refusal("a cancellation without words for its reason", { type: "cancel", reason: "" }, "OPTION_INVALID", "reason"),
  refusal("a retry of what only waits", { type: "retry", node: "ask" }, "RETRY_NOT_PENDING", "w"),
  refusal("a retry of a node there is not", { type: "retry", node: "nowhere" }, "RETRY_NOT_PENDING", "w"),
];

/** All commands that the waiting execution refuses. */
export const refusals: readonly Refusal[] = [...answers, ...signals, ...mapChanges, ...others];

/** Commands that every execution refuses once it has ended, even those that were right before. */
export const afterTheEnd: readonly Command[] = [
  resume("ask"),
  resume(),
  resume("nowhere"),
  resume("0@99"),
  resume("ask", { payload: {} }),
  resume("team", { by: "bob" }),
  signal("paid", { payload: { amount: 1 } }),
  signal("early"),
  { type: "cancel" },
  { type: "cancel", target: "ask" },
  { type: "cancel", target: { node: "list", item: 0 } },
  { type: "retry" },
  { type: "retry", node: "flaky" },
  { type: "addItem", node: "list", item: 2 },
  { type: "closeMap", node: "list" },
  { type: "completeMap", node: "list" },
];

/** The statuses in which an execution may end. */
export const endings: readonly ("completed" | "failed" | "cancelled")[] = ["completed", "failed", "cancelled"];
