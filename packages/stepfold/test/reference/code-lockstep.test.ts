import fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import { effort } from "../../../../scripts/test/effort.ts";
import { compile, fold } from "../../src/core/index.ts";
import type { Event, StartedEvent } from "../../src/core/snapshot/event.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import type { Json } from "../../src/core/values/json.ts";
import { expressionLanguage } from "../../src/expressions/index.ts";
import type { Run } from "../../src/runtime/handle/run.ts";
import { replayCheck } from "../../src/testing/kit/replay-check.ts";
import type { VirtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { pass, quiet } from "../durable/durable.fixture.ts";
import { closeAll, setUp } from "../runtime/runtime.fixture.ts";
import { expectEqual } from "../testing/expect-equal.fixture.ts";
import { type Asked, CodeModel, type Outcome } from "./model-code.fixture.ts";
import { codeOf, napMs } from "./program-code.fixture.ts";
import { chance, pick } from "./random-graph.fixture.ts";
import { type Program, randomProgram } from "./random-program.fixture.ts";

afterEach(closeAll);

const maxMoves = 60;
/** The reason of cancellations of steps. */
const cancelled = "not needed";
const seeds = fc.integer({ min: 0, max: 2 ** 30 });

/** A call of a step that has not ended: the test says how it ends. */
interface Held {
  readonly name: string;
  readonly attempt: number;
  readonly resolve: (value: Json) => void;
  readonly reject: (error: Error) => void;
}

/** What happened to an execution in lockstep with the model. */
interface Trip {
  readonly moves: number;
  readonly versions: number;
  readonly asked: number;
  readonly restarts: number;
}

/** Runs a program as code, in a runtime, and in the model; compares the two after every move. */
async function inLockstep(seed: number, schedule: number): Promise<Trip> {
  const program = randomProgram(seed);
  const random = chance(schedule);
  const held = new Map<number, Held>();
  const workflow = codeOf(program, (step, name) => {
    const number = Number(/\.(\d+)#/.exec(step.idempotencyKey)![1]);
    return new Promise((resolve, reject) => held.set(number, { name, attempt: step.attempt, resolve, reject }));
  });
  const parts = setUp({ workflows: [workflow] });
  const { environment, store } = parts;
  let { runtime } = parts;
  let run: Run = await runtime.start(workflow, { workflowId: "one" });
  const life = new Life(program);
  const trail: unknown[] = [];
  let moves = 0;
  for (; moves < maxMoves; moves++) {
    const snapshot = await settled(environment, run, held);
    life.follow(snapshot);
    const told = (): string => JSON.stringify({ seed, schedule, program, trail }).slice(0, 6_000);
    expectEqual(seen(snapshot, held), life.expected(held), told);
    if (life.isOver) {
      // an execution that has failed with the error of a step goes on once, with another result of that step
      if (!life.mayRestart()) break;
      trail.push("restart");
      held.clear();
      await run.restart();
      life.restart();
      continue;
    }
    if (random() < 0.1) {
      // the process ends, and another one goes on
      trail.push("another process");
      void runtime.close({ timeoutMs: 0 });
      held.clear();
      ({ runtime } = setUp({ workflows: [workflow], store }, environment));
      run = await runtime.get("one");
      await pass(environment, run, 60_000);
      continue;
    }
    const open = life.model.open();
    for (const asked of several(open, random)) trail.push(await move(asked, { run, held, random }));
    if (open.some(({ kind }) => kind === "sleep" || kind === "run") && random() < 0.5) {
      trail.push("time");
      await pass(environment, run, napMs);
    }
  }
  const { items } = await run.events({ limit: 1_000 });
  await expectReplays(program, items, seed);
  await runtime.close({ timeoutMs: 0 });
  return { moves, versions: items.length, asked: life.model.asked.length, restarts: life.restarts };
}

/** Waits until the code can only wait: that which gets many results again takes many turns of the event loop for it. */
async function settled(environment: VirtualEnvironment, run: Run, held: ReadonlyMap<number, Held>): Promise<Snapshot> {
  for (let tries = 0; ; tries++) {
    await quiet(environment, run);
    const snapshot = await run.snapshot();
    if (snapshot.status !== "active" || held.size > 0 || tries === 100) return snapshot;
  }
}

function several(open: readonly Asked[], random: () => number): readonly Asked[] {
  const count = open.length === 0 ? 0 : 1 + Math.floor(random() * Math.min(3, open.length));
  return [...new Set(Array.from({ length: count }, () => pick(random, open)))];
}

interface Hands {
  readonly run: Run;
  readonly held: Map<number, Held>;
  readonly random: () => number;
}

/** Lets something happen to a step that is open, at random: it ends, fails, is answered or cancelled, or nothing happens. */
async function move({ number, kind, name }: Asked, { run, held, random }: Hands): Promise<unknown> {
  if (random() < 0.05) {
    // a step that is performed for the first time has no path yet, and cannot be cancelled
    const isCancelled = await run.cancel({ pathId: `0.${number}`, reason: cancelled }).then(
      () => true,
      () => false,
    );
    if (isCancelled) held.delete(number);
    return `cancel ${number}: ${isCancelled}`;
  }
  if (kind === "sleep") return `let ${number} sleep`;
  if (kind === "wait") {
    const [wait] = (await run.waits()).filter(({ id }) => id.startsWith(`0.${number}@`));
    if (wait) await run.resume({ waitId: wait.id, payload: `answer ${number}` });
    return `answer ${number} ${name}`;
  }
  const call = held.get(number);
  if (!call) return `${number} is not performed`;
  held.delete(number);
  if (random() < 0.3) {
    call.reject(new Error(`no ${number}`));
    return `fail ${number}`;
  }
  call.resolve(`done ${number}`);
  return `end ${number}`;
}

/** The model of one execution, and what its steps have given. */
class Life {
  model: CodeModel;
  restarts = 0;
  isParked = false;
  readonly #program: Program;
  /** The results that the code has got, or will get: by the number of the step. */
  #given = new Map<number, { readonly version: number; readonly outcome: Outcome }>();
  /** The steps that were performed again after a restart. */
  readonly #again = new Set<number>();
  /** The names of the steps that have had a result, by their numbers. */
  readonly #names = new Map<number, string>();
  #followed = -1;

  constructor(program: Program) {
    this.#program = program;
    this.model = new CodeModel(program);
  }

  get isOver(): boolean {
    return this.isParked || this.model.end !== null;
  }

  /** Gives the model what the steps have given since the last call, in the order of versions. */
  follow({ context, activePaths, version }: Snapshot): void {
    const open = new Set(activePaths.map(({ id }) => id));
    const results = Object.entries(context).flatMap(([name, all]) => all.map((result) => ({ name, ...result })));
    results.sort((a, b) => a.version - b.version);
    for (const { pathId, name, version: at, attempt, error, output } of results) {
      const number = Number(/^0\.(\d+)$/.exec(pathId)?.[1] ?? 0);
      if (number === 0 || at <= this.#followed || open.has(pathId)) continue;
      // an attempt that has failed and is made again is no result, also if the execution has ended before that
      const isLast = attempt >= (this.model.asked[number - 1]?.maxAttempts ?? 1) || error === cancelled;
      if (error !== undefined && !isLast) continue;
      this.#names.set(number, name);
      // what somebody has cancelled stays cancelled, also after a restart
      const origin = error === cancelled ? 0 : number;
      this.#given.set(number, { version: at, outcome: error === undefined ? { value: output } : { error, origin } });
      this.#giveAll();
    }
    this.#followed = version;
  }

  /** The model gets the results for which it waits, the oldest first. A result that it does not wait for yet is passed over after a restart. */
  #giveAll(): void {
    const results = [...this.#given].sort(([, a], [, b]) => a.version - b.version);
    for (let next = results.find(([number]) => this.model.isWaitingFor(number)); next; ) {
      this.model.give(next[0], next[1].outcome);
      next = results.find(([number]) => this.model.isWaitingFor(number));
    }
    const { asked } = this.model;
    const isOtherCode = asked.some(({ number, name }) => (this.#names.get(number) ?? name) !== name);
    const isStuck = results.some(([number]) => number > asked.length) && this.model.open().every(({ number }) => !this.#again.has(number));
    this.isParked = isOtherCode || (this.model.end === null && isStuck);
  }

  mayRestart(): boolean {
    const { end } = this.model;
    return !this.isParked && this.restarts === 0 && end !== null && "error" in end && end.origin > 0;
  }

  /** The step whose error the code has thrown is open again; all others keep what they have given. */
  restart(): void {
    const { origin } = this.model.end as Outcome & { readonly origin: number };
    this.restarts++;
    this.#again.add(origin);
    this.#given = new Map([...this.#given].filter(([number]) => number !== origin));
    this.model = new CodeModel(this.#program);
    this.#giveAll();
  }

  expected(held: ReadonlyMap<number, Held>): unknown {
    const { end } = this.model;
    if (this.isParked) return { status: "parked" };
    if (end) return "error" in end ? { status: "failed", error: end.error } : { status: "completed", output: end.value };
    const open = this.model
      .open()
      .map(({ number, name, kind }) => `${number} ${name}${kind === "run" ? ` ${held.get(number)?.attempt ?? "later"}` : ""}`);
    return { status: "open", open: open.sort() };
  }
}

/** What is seen of an execution: the steps that are performed or wait, or how it has ended. */
function seen({ status, activePaths, output, error }: Snapshot, held: ReadonlyMap<number, Held>): unknown {
  if (status === "completed") return { status, output };
  if (status === "failed") return { status, error: error?.message };
  if (status === "parked") return { status };
  const paths = activePaths.flatMap(({ id, nodeId, waits }) =>
    id === "0" ? [] : [{ number: Number(id.slice(2)), nodeId, isWaiting: waits !== undefined }],
  );
  const known = new Set(paths.map(({ number }) => number));
  const open = [
    ...paths.map(({ number, nodeId, isWaiting }) => `${number} ${nodeId}${isWaiting ? "" : ` ${held.get(number)?.attempt ?? "later"}`}`),
    // a step that is performed for the first time has no path yet
    ...[...held].flatMap(([number, { name, attempt }]) => (known.has(number) ? [] : [`${number} ${name} ${attempt}`])),
  ];
  // code that can only wait rests: else nobody would know that it waits for an answer
  return { status: status === "active" && held.size === 0 ? "does not rest" : "open", open: open.sort() };
}

/** Runs the code from every version of a history. It must ask for what it has asked for, and for no step that is not remembered by another name. */
async function expectReplays(program: Program, events: readonly Event[], seed: number): Promise<void> {
  const workflow = codeOf(program, () => new Promise(() => undefined));
  const compiled = compile(workflow.definition, expressionLanguage);
  const check = replayCheck({ workflows: [workflow] });
  for (let count = 1; count <= events.length; count++) {
    const snapshot = fold(compiled, events.slice(0, count) as unknown as [StartedEvent, ...Event[]]);
    if (snapshot.status === "parked" || events.some((event) => event.type === "parked")) return;
    expectEqual(await check.check(snapshot, workflow.definition), null, () => JSON.stringify({ seed, program, count }));
  }
}

const programs = Math.ceil(effort.graphs / 4);

it(`code and the reference model ask for the same after every result, in ${programs} random programs`, { timeout: 900_000 }, async () => {
  const sums = { moves: 0, versions: 0, asked: 0, restarts: 0 };
  const property = fc.asyncProperty(seeds, seeds, async (seed, schedule) => {
    const trip = await inLockstep(seed, schedule);
    for (const name of ["moves", "versions", "asked", "restarts"] as const) sums[name] += trip[name];
  });
  await fc.assert(property, { numRuns: programs });
  expect(sums.versions).toBeGreaterThan(3 * programs);
  expect(sums.restarts).toBeGreaterThan(programs / 50);
});
