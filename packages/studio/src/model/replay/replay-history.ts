import { type CompiledWorkflow, compile, type Event, Replay, type Snapshot, type WorkflowDefinition } from "stepfold/core";
import { expressionLanguage } from "stepfold/expressions";
import { countUpTo } from "./count-up-to.ts";
import type { ExecutionState } from "./execution-state.ts";
import { NodeMarks } from "./node-marks.ts";
import { isEnding, stateOf } from "./report-state.ts";
import { StopFinder } from "./stop-finder.ts";

/** A snapshot is kept after so many events, so that no version is further away than that. */
const stride = 500;

/** What was at one place of the history. */
interface Kept {
  /** The number of events that it contains. */
  readonly count: number;
  readonly marks: NodeMarks;
  /** Null: the events up to here could not be folded. */
  readonly snapshot: Snapshot | null;
}

/** The history folded up to one of its events. */
interface Fold {
  count: number;
  readonly marks: NodeMarks;
  /** Null: there is no event yet, or one could not be folded. */
  replay: Replay | null;
  hash: string;
}

/**
 * The history of one execution, to be told at any version. It takes the events in order, and the definitions that they follow in any order.
 * A version costs at most 500 events: it is folded from the snapshot before it that was kept.
 */
export class ReplayHistory {
  readonly #events: Event[] = [];
  readonly #compiled = new Map<string, CompiledWorkflow | null>();
  readonly #kept: Kept[] = [];
  readonly #stops = new StopFinder(this.#events, (version) => this.snapshot(version));
  /** At the last event that could be folded with the definitions so far. */
  #head: Fold = begin();
  /** At the version that was asked for last: the next version is mostly one further. */
  #cursor: Fold = begin();

  /** Adds a definition. A definition that cannot be compiled means that its events are not folded. */
  define(hash: string, definition: WorkflowDefinition | null): void {
    if (this.#compiled.get(hash)) return;
    this.#compiled.set(hash, definition && compiled(definition, hash));
    this.#advance();
  }

  /** Adds events, each later than those before. */
  add(events: readonly Event[]): void {
    for (const event of events) this.#events.push(event);
    this.#advance();
  }

  /** The version of the last event whose definition is known; -1: none. */
  get version(): number {
    return this.#head.count === 0 ? -1 : this.#events[this.#head.count - 1]!.version;
  }

  /** Tells the state at a version; null if its event is not there yet. */
  state(version: number): ExecutionState | null {
    const walk = this.#walkTo(version);
    if (!walk) return null;
    const { version: reached, at } = this.#events[walk.count - 1]!;
    const snapshot = walk.replay?.snapshot() ?? null;
    const workflow = this.#compiled.get(walk.hash) ?? undefined;
    const { count, hash, marks } = walk;
    const stopped = snapshot === null ? [] : this.#stops.stopped(count, isEnding(snapshot));
    return stateOf({ version: reached, at, run: marks.run, hash, marks: marks.marks, stopped, snapshot, workflow });
  }

  /** Returns the snapshot at a version; null if its event is not there yet, or could not be folded. */
  snapshot(version: number): Snapshot | null {
    return this.#walkTo(version)?.replay?.snapshot() ?? null;
  }

  #walkTo(version: number): Fold | null {
    const count = countUpTo(this.#events, version);
    if (count === 0 || count > this.#head.count) return null;
    if (count === this.#head.count) return this.#head;
    if (this.#cursor.count === 0 || this.#cursor.count > count || count - this.#cursor.count > stride) this.#cursor = this.#walkFrom(count);
    this.#walk(this.#cursor, count);
    return this.#cursor;
  }

  #walkFrom(count: number): Fold {
    const kept = this.#kept.findLast((one) => one.count <= count);
    if (!kept) return begin();
    const { marks, snapshot } = kept;
    const hash = snapshot?.definition.hash ?? "";
    const workflow = this.#compiled.get(hash);
    const replay = snapshot && workflow ? new Replay(workflow, snapshot, this.#workflowOf) : null;
    return { count: kept.count, marks: marks.copy(), replay, hash: replay ? hash : hashAt(this.#events, kept.count) };
  }

  #advance(): void {
    while (this.#head.count < this.#events.length) {
      const next = Math.min(this.#events.length, (Math.floor(this.#head.count / stride) + 1) * stride);
      this.#walk(this.#head, next);
      if (this.#head.count < next) return;
      if (next % stride === 0)
        this.#kept.push({ count: next, marks: this.#head.marks.copy(), snapshot: this.#head.replay?.snapshot() ?? null });
    }
  }

  /** Walks on until `count` events, or until the definition of the next one is not known yet. */
  #walk(walk: Fold, count: number): void {
    while (walk.count < count) {
      const event = this.#events[walk.count]!;
      const hash = "definition" in event ? event.definition.hash : walk.hash;
      if (!this.#compiled.has(hash)) return;
      walk.marks.see(event);
      walk.replay = this.#folded(walk, event, this.#compiled.get(hash) ?? null);
      walk.hash = hash;
      walk.count++;
    }
  }

  /** Folds one more event. Null: it does not fold, for example because values that it needs are cut. */
  #folded({ replay, count }: Fold, event: Event, workflow: CompiledWorkflow | null): Replay | null {
    const next = count === 0 && workflow ? new Replay(workflow, null, this.#workflowOf) : replay;
    if (!next || !workflow) return null;
    try {
      return next.add(event) ? next : null;
    } catch {
      return null;
    }
  }

  #workflowOf = (hash: string): CompiledWorkflow => this.#compiled.get(hash)!;
}

function begin(): Fold {
  return { count: 0, marks: new NodeMarks(), replay: null, hash: "" };
}

function compiled(definition: WorkflowDefinition, hash: string): CompiledWorkflow | null {
  try {
    const workflow = compile(definition, expressionLanguage, undefined, { isStored: true });
    return workflow.hash === hash ? workflow : null;
  } catch {
    return null;
  }
}

/** The hash of the definition that the last of the first `count` events follows. */
function hashAt(events: readonly Event[], count: number): string {
  for (let index = count - 1; index >= 0; index--) {
    const event = events[index]!;
    if ("definition" in event) return event.definition.hash;
  }
  return "";
}
