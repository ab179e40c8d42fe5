import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import { act, type Bench, benches, codeOf, edges, ended, eventually, type OpenStore, until } from "./identity.fixture.ts";

const waiting = { start: "f", edges: edges("f>q", "f>s", "s>again") };
const nodes = [
  act("f", { compensate: { type: "approval" } }),
  { id: "q", type: "approval" },
  { id: "s", type: "signal", data: { name: "on" } },
  { id: "again", type: "end", data: { continueAs: {} } },
];
const [first, ...others] = nodes;
const { compensate: _, ...plainFirst } = first as { compensate: object };
const plain = { id: "plain", ...waiting, nodes: [plainFirst, ...others] };
const closing = { ...plain, id: "closing", finally: "bye", nodes: [...plain.nodes, { id: "bye", type: "approval" }] };
const undoing = { ...plain, id: "undoing", nodes };
const kid = { id: "kid", nodes: [{ id: "q", type: "approval" }], edges: [] };
const parent = {
  id: "parent",
  nodes: [{ id: "c", type: "workflow", data: { workflow: "kid", detached: true, workflowId: "{{ input }}" } }],
  edges: [],
};

const isPaused = ({ status }: { readonly status: string }): boolean => status === "paused";

/** An execution in a state, and a wait of it. */
interface Standing {
  readonly run: Run;
  readonly waitId: string;
}

const keyed = { idempotencyKey: "seen before" };

/** Brings an execution into each state. Before, it has taken a signal with the key `seen before`. */
const states: Readonly<Record<string, (bench: Bench, id: string) => Promise<Standing>>> = {
  async open({ runtime }, id) {
    const run = await runtime.start("plain", { workflowId: id });
    return { run, waitId: await standing(run) };
  },
  async closing({ runtime }, id) {
    const run = await runtime.start("closing", { workflowId: id });
    await standing(run);
    await run.cancel();
    return { run, waitId: await waitOf(run, "bye") };
  },
  async undoing({ runtime }, id) {
    const run = await runtime.start("undoing", { workflowId: id });
    await standing(run);
    await run.cancel();
    return { run, waitId: await waitOf(run, "f") };
  },
  async delivering({ runtime }, id) {
    await runtime.start("parent", { workflowId: `${silent}${id}`, input: id });
    await eventually(async () => (await codeOf(runtime.get(id))) === "no error");
    const run = await runtime.get(id);
    const waitId = await standing(run);
    await run.cancel();
    await until(run, ({ ending, activePaths }) => ending !== undefined && activePaths.length === 0);
    return { run, waitId };
  },
  async ended({ runtime }, id) {
    const run = await runtime.start("plain", { workflowId: id });
    const waitId = await standing(run);
    await run.cancel();
    await until(run, ended);
    return { run, waitId };
  },
  async continued({ runtime }, id) {
    const run = await runtime.start("plain", { workflowId: id });
    const waitId = await standing(run);
    await run.signal("on");
    await until(run, ({ status, run: present }) => status === "paused" && present?.number === 2);
    return { run, waitId };
  },
  async restarted({ runtime }, id) {
    const run = await runtime.start("plain", { workflowId: id });
    const waitId = await standing(run);
    await run.cancel();
    await until(run, ended);
    await run.restart();
    await until(run, isPaused);
    return { run, waitId };
  },
};

async function standing(run: Run): Promise<string> {
  const waitId = await waitOf(run, "q");
  await run.signal("other", 1, keyed);
  await until(run, isPaused);
  return waitId;
}

async function waitOf(run: Run, nodeId: string): Promise<string> {
  const { activePaths } = await until(run, (snapshot) => isPaused(snapshot) && snapshot.activePaths.some((path) => path.nodeId === nodeId));
  return activePaths.find((path) => path.nodeId === nodeId)!.waits![0]!.id;
}

type Told = (told: Promise<unknown>) => Promise<unknown>;
const applied: Told = (told) => expect(told).resolves.toEqual({ applied: true });
const repeated: Told = (told) => expect(told).resolves.toEqual({ applied: false });
const done: Told = (told) => expect(told).resolves.toBeUndefined();
const refused =
  (code: string): Told =>
  async (told) =>
    expect(await codeOf(told)).toBe(code);
const [over, gone, notRestarted] = [refused("EXECUTION_ENDED"), refused("WAIT_GONE"), refused("FORK_REFUSED")];
const nothingToRetry = refused("RETRY_NOT_PENDING");
const is =
  (outcome: object): Told =>
  (told) =>
    expect(told).resolves.toEqual(outcome);

const order = ["open", "closing", "undoing", "delivering", "ended", "continued", "restarted"] as const;

/** What each command says in each state, in the order of `order` (docs/guides/going-on.md). */
const table: Readonly<Record<string, readonly [(standing: Standing, bench: Bench) => Promise<unknown>, ...Told[]]>> = {
  "an answer to a wait": [
    ({ run, waitId }) => run.resume({ waitId, payload: { approved: true } }),
    ...[applied, applied, applied, over, over, gone, applied],
  ],
  "a signal with a key that was given before": [
    ({ run }) => run.signal("other", 1, keyed),
    ...[repeated, repeated, repeated, repeated, repeated, repeated, repeated],
  ],
  "a signal": [({ run }) => run.signal("more", 1), ...[applied, applied, applied, over, over, applied, applied]],
  "a cancellation": [({ run }) => run.cancel(), ...[done, over, over, over, over, done, done]],
  "a change of the metadata": [({ run }) => run.setMetadata({ a: 1 }), ...[applied, applied, applied, over, over, applied, applied]],
  "a retry": [({ run }) => run.retry(), ...[nothingToRetry, nothingToRetry, nothingToRetry, over, over, nothingToRetry, nothingToRetry]],
  "a restart": [
    ({ run }) => run.restart(),
    ...[notRestarted, notRestarted, notRestarted, notRestarted, is({ applied: true, reason: "restarted" }), notRestarted],
    is({ applied: false, reason: "open" }),
  ],
};

/** The parents of executions whose ends cannot be delivered have ids that begin with this. */
const silent = "silent ";

/** A store that refuses commits to some executions from outside, so that messages to them stay where they are. */
function holdingMessages(store: SnapshotStore): SnapshotStore {
  return {
    ...store,
    async commit(commit) {
      const isAnswer = commit.fence === undefined && commit.workflowId.startsWith(silent);
      if (isAnswer) throw new StepfoldError("STORE_UNAVAILABLE", { store: "held", reason: "the test holds messages" });
      return store.commit(commit);
    },
  };
}

/** Every command, times every state of an execution. */
export function commandsInStates(name: string, openStore: OpenStore): void {
  describe(`${name}: in every state`, () => {
    const open = benches(async () => holdingMessages(await openStore()));
    let shared: Promise<Bench> | null = null;
    const bench = (): Promise<Bench> => (shared ??= open([plain, closing, undoing, kid, parent]));
    for (const [what, [send, ...told]] of Object.entries(table))
      it.each(order.map((state, index) => [state, told[index]!] as const))(`${what} is told what it does: %s`, async (state, expected) => {
        const there = await bench();
        const standing = await states[state]!(there, `${what} ${state}`);
        await expected(send(standing, there));
      });

    it.each(order.filter((state) => state !== "delivering"))("a start with the same id and input finds it: %s", async (state) => {
      const there = await bench();
      const { run } = await states[state]!(there, `start ${state}`);
      const workflow = state === "closing" || state === "undoing" ? state : "plain";
      expect((await there.runtime.start(workflow, { workflowId: run.workflowId })).workflowId).toBe(run.workflowId);
      expect(await codeOf(there.runtime.start(workflow, { workflowId: run.workflowId, input: 1 }))).toBe("START_CONFLICT");
    });
  });
}
