import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Event, isTerminal, type Snapshot, type SnapshotStore, StepfoldError } from "stepfold";
import { createRuntime, type Run, type Runtime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { type VirtualEnvironment, virtualEnvironment } from "stepfold/testing";
import { isAvailable } from "./explore-runs.ts";
import type { Fixture, ScriptStep } from "./fixture.ts";
import { Labels } from "./labels.ts";
import { fixtureNodes } from "./run-nodes.ts";
import { History } from "./transition.ts";

/** Where a process dies: at its nth commit, before the store has it or after, without hearing so. */
export interface Crash {
  readonly commit: number;
  readonly when: "before" | "after";
}

/** What an execution on SQLite showed. */
export interface CrashRun {
  readonly trace: readonly string[];
  /** False if it made fewer commits than that. */
  readonly crashed: boolean;
}

const leaseMs = 5_000;
const id = "pattern";

/** Runs a fixture on a SQLite file. The process dies at the given commit, and another one goes on from the file. */
export async function crashRun(fixture: Fixture, crash: Crash | null): Promise<CrashRun> {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-pattern-"));
  const environment = virtualEnvironment();
  const open = (): SnapshotStore => sqliteStore(join(folder, "db"), { synchronous: "NORMAL", now: () => environment.now() });
  const witness = open();
  const doomed = new Doomed(open(), environment, crash);
  const run = new Driven(fixture, environment, witness);
  try {
    await run.begin(doomed.store, doomed.environment);
    await run.drive(() => doomed.dead);
    if (doomed.dead) {
      await environment.advance(leaseMs + 1);
      await run.begin(open(), environment);
      await run.drive(() => false);
    }
    return { trace: await run.trace(), crashed: doomed.dead };
  } finally {
    await run.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The store and the timers of a process that dies: from then on nothing answers, and nothing fires. */
class Doomed {
  dead = false;
  readonly store: SnapshotStore;
  readonly environment: VirtualEnvironment;
  #commits = 0;

  constructor(store: SnapshotStore, environment: VirtualEnvironment, crash: Crash | null) {
    const never = new Promise<never>(() => undefined);
    const guard = <A extends readonly unknown[], R>(work: (...args: A) => Promise<R>): ((...args: A) => Promise<R>) => {
      return (...args) => (this.dead ? never : work(...args));
    };
    const dying = <A extends readonly unknown[], R>(work: (...args: A) => Promise<R>): ((...args: A) => Promise<R>) =>
      guard(async (...args) => {
        const isLast = ++this.#commits === crash?.commit;
        if (isLast && crash.when === "before") this.dead = true;
        if (this.dead) return never;
        const result = await work(...args);
        if (isLast) this.dead = true;
        return this.dead ? never : result;
      });
    this.store = {
      ...store,
      create: dying(store.create),
      commit: dying(store.commit),
      claim: guard(store.claim),
      renew: guard(store.renew),
      release: guard(store.release),
      load: guard(store.load),
      events: guard(store.events),
      putDefinition: guard(store.putDefinition),
      getDefinition: guard(store.getDefinition),
    };
    this.environment = { ...environment, after: (ms, callback) => environment.after(ms, () => !this.dead && callback()) };
  }
}

/** One fixture being driven, by one process after the other. */
class Driven {
  readonly #fixture: Fixture;
  readonly #environment: VirtualEnvironment;
  readonly #witness: SnapshotStore;
  readonly #stores: SnapshotStore[] = [];
  readonly #runtimes: Runtime[] = [];
  #run: Run | null = null;
  /** Steps of the script that the execution took, in their order, and time that passed in between. */
  readonly #taken: { readonly label: string; readonly after: number; readonly external: boolean }[] = [];
  #left: ScriptStep[];

  constructor(fixture: Fixture, environment: VirtualEnvironment, witness: SnapshotStore) {
    this.#fixture = fixture;
    this.#environment = environment;
    this.#witness = witness;
    this.#left = [...fixture.script];
  }

  /** A process opens the store, and starts the execution if there is none. */
  async begin(store: SnapshotStore, environment: VirtualEnvironment): Promise<void> {
    const { workflow, input } = this.#fixture;
    const runtime = createRuntime({ store, environment, nodeDefinitions: fixtureNodes, workflows: [workflow], leaseMs });
    this.#stores.push(store);
    this.#runtimes.push(runtime);
    runtime.start(workflow.id, { workflowId: id, input }).then(
      (run) => {
        this.#run = run;
      },
      () => undefined,
    );
    await this.#quiet();
  }

  /** Sends the script's steps as they become available, until nothing moves any more or the process is dead. */
  async drive(isDead: () => boolean): Promise<void> {
    for (let idle = false; !idle && !isDead(); ) {
      idle = true;
      for (const step of this.#left) {
        if (isDead() || !isAvailable(step, await this.trace()) || !(await this.#take(step))) continue;
        this.#left = this.#left.filter((other) => other !== step);
        idle = false;
        await this.#quiet();
      }
    }
  }

  async #take(step: ScriptStep): Promise<boolean> {
    const snapshot = await this.#witness.load(id);
    if (!snapshot || isTerminal(snapshot.status)) return false;
    const events = await this.#externalEvents();
    if (step.advanceMs !== undefined) {
      this.#taken.push({ label: step.label, after: snapshot.version, external: false });
      await this.#environment.advance(step.advanceMs);
      return true;
    }
    // sent just before a crash, and taken all the same
    const known = this.#taken.filter(({ external }) => external).length < events;
    if (!known && !(await this.#send(step))) return false;
    // a process that died over it may have got it through or not
    if ((await this.#externalEvents()) <= this.#taken.filter(({ external }) => external).length) return false;
    this.#taken.push({ label: step.label, after: snapshot.version, external: true });
    return true;
  }

  /** False if the execution refuses it. A process that dies over it never answers. */
  async #send({ send }: ScriptStep): Promise<boolean> {
    let refused = false;
    this.#tell(send!).catch((error: unknown) => {
      refused = StepfoldError.is(error);
    });
    await this.#quiet();
    return !refused;
  }

  async #tell(command: NonNullable<ScriptStep["send"]>): Promise<unknown> {
    const run = this.#run!;
    switch (command.type) {
      case "resume":
        return run.resume({ step: command.target.node, payload: command.payload });
      case "signal":
        return run.signal(command.name, command.payload, { key: command.key });
      case "cancel":
        return run.cancel({ step: command.target?.node });
      case "addItem":
        return run.addItem(command.node, command.item);
      case "closeMap":
        return run.closeMap(command.node);
      case "completeMap":
        return run.completeMap(command.node);
    }
  }

  /** Waits until nothing happens any more without time passing or somebody telling. */
  async #quiet(): Promise<void> {
    for (let calm = 0, before = -1; calm < 3; calm++) {
      await this.#environment.settle();
      const { version = -1 } = (await this.#witness.load(id)) ?? {};
      if (version !== before) calm = 0;
      before = version;
    }
  }

  async #externalEvents(): Promise<number> {
    return (await this.#witness.events(id, -1, 10_000)).filter(({ event }) => isExternal(event)).length;
  }

  /** The labels of the whole history, and the status it has come to. */
  async trace(): Promise<string[]> {
    const history = new History(this.#fixture);
    const labels = new Labels();
    const trace: string[] = [];
    const taken = [...this.#taken];
    let last: Snapshot | null = null;
    for (const { event } of await this.#witness.events(id, -1, 10_000)) {
      while (taken[0] && !taken[0].external && taken[0].after < event.version) trace.push(`!${taken.shift()!.label}`);
      last = history.after(event);
      trace.push(...labels.of(event, last, isExternal(event) ? taken.shift()?.label : undefined));
    }
    trace.push(...taken.map(({ label }) => `!${label}`));
    if (last && (isTerminal(last.status) || last.status === "paused")) trace.push(last.status);
    return trace;
  }

  async end(): Promise<void> {
    for (const runtime of this.#runtimes) void runtime.close({ timeoutMs: 1 });
    for (const store of [...this.#stores, this.#witness]) await store.close();
  }
}

function isExternal(event: Event): boolean {
  if (event.type === "resumed") return event.by === "payload";
  return event.type === "signalled" || event.type === "cancelled" || event.type === "itemAdded" || event.type === "mapClosed";
}
