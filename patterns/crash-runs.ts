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

/**
 * The point at which a process dies: at its nth commit, either before the store has it, or after the store has it but before the
 * process gets the answer.
 */
export interface Crash {
  readonly commit: number;
  readonly when: "before" | "after";
}

/** The trace of an execution on SQLite. */
export interface CrashRun {
  readonly trace: readonly string[];
  /** False if the execution made fewer commits than the one at which it should crash. */
  readonly crashed: boolean;
}

const leaseMs = 5_000;
const id = "pattern";

/** Runs a fixture on a SQLite file. The process dies at the given commit, and another one goes on from the file. Null: it does not die. */
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

/** The store and the timers of a process that dies. After its death no call is answered and no timer fires. */
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

/** A fixture that one process after the other drives. */
class Driven {
  readonly #fixture: Fixture;
  readonly #environment: VirtualEnvironment;
  readonly #witness: SnapshotStore;
  readonly #stores: SnapshotStore[] = [];
  readonly #runtimes: Runtime[] = [];
  #run: Run | null = null;
  /**
   * The script's steps that the execution took, in their order: `after` is the version before the step, and `external` is false if only
   * time passed.
   */
  readonly #taken: { readonly label: string; readonly after: number; readonly external: boolean }[] = [];
  #left: ScriptStep[];

  constructor(fixture: Fixture, environment: VirtualEnvironment, witness: SnapshotStore) {
    this.#fixture = fixture;
    this.#environment = environment;
    this.#witness = witness;
    this.#left = [...fixture.script];
  }

  /** Begins a process: it opens the store, and starts the execution if there is none. */
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

  /** Sends the script's steps as they become available, until nothing changes any more or the process is dead. */
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
    // a step that was sent just before a crash may already be in the history
    const known = this.#taken.filter(({ external }) => external).length < events;
    if (!known && !(await this.#send(step))) return false;
    // if the process died during the step, the store may have the event or not
    if ((await this.#externalEvents()) <= this.#taken.filter(({ external }) => external).length) return false;
    this.#taken.push({ label: step.label, after: snapshot.version, external: true });
    return true;
  }

  /** Sends a step. Returns false if the execution refuses it. If the process dies meanwhile, there is no answer. */
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

  /** Waits until nothing changes any more unless time passes or a command arrives. */
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

  /** Returns the labels of the whole history, and the current status. */
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
