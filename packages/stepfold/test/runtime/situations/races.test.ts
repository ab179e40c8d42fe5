import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import type { Event, StartedEvent } from "../../../src/core/snapshot/event.ts";
import { fold } from "../../../src/core/transition/apply.ts";
import type { Json } from "../../../src/core/values/json.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import type { StepContext } from "../../../src/engine/node/step-context.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { Environment } from "../../../src/ports/environment.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { CancelOptions, Run } from "../../../src/runtime/handle/run.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { HeldSteps, workflow } from "../../engine/cancelling.fixture.ts";
import { viaJson } from "../../engine/engine.fixture.ts";
import { closeAll, dying, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const item = workflow("item", { work: "slow", pick: "ask", more: "slow" }, ["work>pick", "pick>more"]);
const asks = ["ask1", "ask2", "ask3"];
const busy = workflow(
  "busy",
  {
    f: "slow",
    ask1: "ask",
    ask2: "ask",
    ask3: "ask",
    behind: "slow",
    flaky: { type: "flaky", retryPolicy: { maxAttempts: 3, interval: "1s", backoff: "fixed" } },
    paid: { type: "signal", data: { name: "paid" } },
    list: { type: "map", data: { workflow: "item", items: ["x", "y", "z"], concurrency: 2 } },
    all: { type: "slow", join: "all" },
    after: "slow",
  },
  [
    ...["ask1", "ask2", "ask3", "flaky", "paid", "list"].map((node) => `f>${node}`),
    "ask1>behind",
    ...["behind", "ask2", "ask3", "flaky", "paid", "list"].map((node) => `${node}>all`),
    "all>after",
  ],
  { workflows: { item } },
);
const places = [...asks, "list[0]/pick", "list[1]/pick", "list[2]/pick"];

const none = { executor: () => ({ data: null }) };
const { workflow: compiled } = new WorkflowEngine({
  workflow: busy,
  nodeDefinitions: { ...builtinNodes, slow: none, ask: none, flaky: none },
});

/** Makes a generator of random numbers that are the same in every run. */
function seeded(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const connectionLost = new Error("the process has died");

/** Some processes on one slow store. Requests to the store and its answers take time, or are lost. */
class World {
  readonly environment: VirtualEnvironment = virtualEnvironment();
  readonly ran: string[] = [];
  readonly applied: string[] = [];
  readonly cancelled: string[] = [];
  /** The handles of the execution, one for each process. */
  runs: readonly Run[] = [];
  readonly #random: (below: number) => number;
  readonly #memory = memoryStore({ now: () => this.environment.now() });
  readonly #loses: boolean;
  #dead = false;
  #hangUp: (reason: Error) => void = () => undefined;
  readonly #death = new Promise<never>((_, reject) => {
    this.#hangUp = reject;
  });

  constructor(seed: number, loses: boolean) {
    this.#random = seeded(seed);
    this.#loses = loses;
    this.#death.catch(() => undefined);
  }

  get store(): SnapshotStore {
    return this.#memory;
  }

  /** Opens a runtime in a new process. `alive` is the environment of the process, whose timers never fire after its death. */
  runtime(drive: boolean, alive: Environment = this.environment): ReturnType<typeof setUp>["runtime"] {
    const slow = async (_data: Json, step: StepContext): Promise<{ data: Json }> => {
      this.#note(step);
      await this.#while(300, alive);
      return { data: step.inputs?.length ?? step.input ?? null };
    };
    const ask = (_data: Json, step: StepContext): { data: Json } => {
      this.#note(step);
      return step.resumed ? { data: step.externalPayload as Json } : step.suspend();
    };
    const flaky = async (_data: Json, step: StepContext): Promise<{ data: Json }> => {
      this.#note(step);
      await this.#while(100, alive);
      if (step.attempt < 3) throw new Error("busy");
      return { data: step.attempt };
    };
    const own = { slow: { executor: slow }, ask: { executor: ask }, flaky: { executor: flaky } };
    const nodeDefinitions = { ...builtinNodes, ...own } as never;
    const options = { store: this.#far(alive), drive, workflows: [busy], nodeDefinitions, environment: alive, leaseMs: 10 * second };
    return setUp(options, this.environment).runtime;
  }

  /** Ends the first process. Callers that wait for its answer get `connectionLost`. */
  die(): void {
    this.#dead = true;
    this.#hangUp(connectionLost);
  }

  /** Answers a wait at a random time, through a random process, and sometimes again. */
  async answers(place: string, who: number): Promise<void> {
    await this.#while(6_000);
    const answer = `${place} by ${who}`;
    for (let tries = 0; tries < 40; tries++) {
      try {
        await this.#tell((run) => run.resume({ step: place, payload: answer, by: `${who}`, idempotencyKey: answer }));
        // the answer is applied by this call or was applied before, because the key and the payload are the same
        if (!this.applied.includes(answer)) this.applied.push(answer);
        if (this.#random(3) > 0) return;
      } catch (error) {
        if (StepfoldError.is(error, "EXECUTION_ENDED")) return;
        if (error !== connectionLost && !StepfoldError.is(error, "WAIT_GONE")) throw error;
      }
      await this.#while(1_000);
    }
  }

  /** Cancels a place at a random time, and records the place if there was something to cancel. */
  async cancels(place: CancelOptions): Promise<void> {
    await this.#while(8_000);
    try {
      await this.runs[1]!.cancel(place);
      this.cancelled.push(place.step!);
    } catch (error) {
      if (!StepfoldError.is(error, "WAIT_GONE") && !StepfoldError.is(error, "EXECUTION_ENDED")) throw error;
    }
  }

  /** Sends the signal of one payment three times with the same key, as a caller that is not certain of its success. */
  async pays(): Promise<void> {
    await this.#while(4_000);
    for (let times = 0; times < 3; times++) {
      await this.#tell((run) => run.signal("paid", 7, { idempotencyKey: "payment" })).catch((error: unknown) => {
        if (error !== connectionLost && !StepfoldError.is(error, "EXECUTION_ENDED")) throw error;
      });
    }
  }

  #tell<T>(what: (run: Run) => Promise<T>): Promise<T> {
    const process = this.#dead ? 1 + this.#random(2) : this.#random(3);
    const told = what(this.runs[process]!);
    return process === 0 ? Promise.race([told, this.#death]) : told;
  }

  #note({ pathId, nodeId, attempt, resumed }: StepContext): void {
    this.ran.push(`${pathId} ${nodeId} ${attempt}${resumed ? " resumed" : ""}`);
  }

  #while(atMost: number, alive: Environment = this.environment): Promise<void> {
    return new Promise((resolve) => {
      alive.after(this.#random(atMost), resolve);
    });
  }

  #far(alive: Environment): SnapshotStore {
    const call = async <T>(work: () => Promise<T>, maybeLost = false): Promise<T> => {
      await this.#while(40, alive);
      if (maybeLost && this.#random(12) === 0)
        throw new StepfoldError("STORE_UNAVAILABLE", { store: "far", reason: "the request was lost" });
      const result = await work();
      await this.#while(40, alive);
      if (maybeLost && this.#random(12) === 0)
        throw new StepfoldError("STORE_UNAVAILABLE", { store: "far", reason: "the answer was lost" });
      return result;
    };
    const memory = this.#memory;
    return {
      ...memory,
      create: (commit, options) => call(() => memory.create(viaJson(commit), options), this.#loses),
      commit: (commit) => call(() => memory.commit(viaJson(commit)), this.#loses),
      load: (workflowId) => call(() => memory.load(workflowId)),
      claim: (wanted) => call(() => memory.claim(wanted)),
      renew: (claim) => call(() => memory.renew(claim)),
      release: (claim, version) => call(() => memory.release(claim, version), this.#loses),
      events: (workflowId, after, limit) => call(() => memory.events(workflowId, after, limit)),
    };
  }
}

interface Circumstances {
  /** True: some requests to the store and some of its answers are lost. */
  readonly loses: boolean;
  /** True: parts of the execution are cancelled. */
  readonly cancels: boolean;
  /** True: the first of the two processes that drive the execution dies. */
  readonly dies: boolean;
}

async function play(seed: number, { loses, cancels, dies }: Circumstances): Promise<World> {
  const world = new World(seed, loses);
  const doomed = dying(world.environment);
  const runtimes = [world.runtime(true, doomed.environment), world.runtime(true), world.runtime(false)];
  const starting = runtimes[0]!.start("busy", { workflowId: "w" });
  await world.environment.advance(15 * second);
  await starting;
  const getting = Promise.all(runtimes.map((runtime) => runtime.get("w")));
  await world.environment.advance(1 * second);
  world.runs = await getting;
  const people = places.flatMap((place) => [1, 2].map((who) => world.answers(place, who)));
  const cancelling: readonly CancelOptions[] = cancels ? [{ step: "ask3" }, { step: "list", item: 1 }] : [];
  const all = Promise.all([...people, ...cancelling.map((place) => world.cancels(place)), world.pays()]);
  await world.environment.advance((seed * 97) % 6_000);
  if (dies) doomed.die();
  if (dies) world.die();
  await world.environment.advance(120 * second);
  await all;
  return world;
}

/** Checks the end of the execution, which must not depend on the order in which the processes and callers were first. */
async function judge({ store, ran, applied, cancelled }: World, { dies }: Circumstances): Promise<void> {
  const snapshot = (await store.load("w"))!;
  const events = (await store.events("w", -1, 1_000)).map(({ event }) => event);
  const gave = (nodeId: string): Json[] => (snapshot.context[nodeId] ?? []).map(({ output }) => output);
  expect([snapshot.status, snapshot.activePaths]).toEqual(["completed", []]);
  // no wait has taken two answers, and only a cancelled wait may have taken none
  expect(new Set(applied.map(placeOf)).size).toBe(applied.length);
  const lacking = places.filter((place) => !applied.some((answer) => placeOf(answer) === place));
  for (const place of lacking) expect(cancelled).toContain(place.replace(/\[1\].*/, ""));
  for (const ask of asks) expect(gave(ask)).toEqual(cancelled.includes(ask) ? [] : applied.filter((answer) => placeOf(answer) === ask));
  const items = gave("list") as unknown as Json[][];
  expect(items).toEqual([["x", cancelled.includes("list") ? null : "y", "z"]]);
  for (const node of ["f", "behind", "after", "paid"]) expect(gave(node)).toHaveLength(1);
  expect(gave("all")).toEqual([cancelled.includes("ask3") ? 5 : 6]);
  // only steps under way in a process that died are performed twice, and the history folds to the stored snapshot
  if (!dies) expect(new Set(ran).size).toBe(ran.length);
  expect(events.map(({ version }) => version)).toEqual(events.map((_event, version) => version));
  expect(viaJson(fold(compiled, events as [StartedEvent, ...Event[]]))).toEqual(viaJson(snapshot));
}

const placeOf = (answer: string): string => answer.split(" ")[0]!;

describe("processes that answer, drive and take over at once, on a store that is slow", () => {
  it.each<{ what: string } & Circumstances>([
    { what: "", loses: false, cancels: false, dies: false },
    { what: ", which loses requests and acknowledgements", loses: true, cancels: false, dies: false },
    { what: ", while some of it is cancelled", loses: true, cancels: true, dies: false },
    { what: ", while one of them dies", loses: true, cancels: true, dies: true },
  ])("lose nothing and do nothing twice$what", { timeout: 60_000 }, async (circumstances) => {
    let cancelled = 0;
    let repeated = 0;
    for (let seed = 1; seed <= 25; seed++) {
      const world = await play(seed, circumstances);
      cancelled += world.cancelled.length;
      repeated += world.ran.length - new Set(world.ran).size;
      await judge(world, circumstances).catch((error: Error) => {
        error.message = `seed ${seed}: ${error.message}`;
        throw error;
      });
    }
    // in all runs together something was cancelled, or repeated, exactly if the circumstances say so
    expect([cancelled > 0, repeated > 0]).toEqual([circumstances.cancels, circumstances.dies]);
  });
});

describe("a store that does not answer one question", () => {
  // The commit of "a" meets a newer version, and the load that follows fails once. If the load were not tried again, the result of "a"
  // would be dropped, "c" would be aborted, and both steps would be performed again after the lease.
  it("loses no result, aborts no step and makes none again, when an answer has come meanwhile", async () => {
    const environment = virtualEnvironment();
    const memory = memoryStore({ now: () => environment.now() });
    let losing = false;
    const load: SnapshotStore["load"] = async (workflowId) => {
      if (!losing) return memory.load(workflowId);
      losing = false;
      throw new StepfoldError("STORE_UNAVAILABLE", { store: "far", reason: "the answer was lost" });
    };
    const steps = new HeldSteps();
    const nodeDefinitions = { ...builtinNodes, slow: defineNode({ executor: steps.executor }) };
    const options = {
      nodeDefinitions,
      workflows: [workflow("w", { f: "noop", a: "slow", ask: "approval", c: "slow" }, ["f>a", "f>ask", "f>c"])],
    };
    const { runtime } = setUp({ ...options, store: { ...memory, load } }, environment);
    const run = await runtime.start("w", { workflowId: "w" });
    await environment.settle();
    const elsewhere = await setUp({ ...options, store: memory, drive: false }, environment).runtime.get("w");
    await elsewhere.resume({ step: "ask", payload: { approved: true } });
    losing = true;
    steps.finish("a");
    await environment.advance(60 * second);
    expect((await run.snapshot()).context.a).toMatchObject([{ output: "a done" }]);
    expect([steps.running, steps.aborted]).toEqual([["a", "c"], []]);
  });
});
