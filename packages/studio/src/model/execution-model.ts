import type { ExecutionView, LinkFrame, ListFrame, ProgressFrame, StreamFrame } from "stepfold/client";
import type { EpochMs, Event, Snapshot, WorkflowDefinition } from "stepfold/core";
import type { ExecutionState } from "./replay/execution-state.ts";
import { LatestAnswer } from "./replay/latest-answer.ts";
import type { ReplayClient } from "./replay/replay-client.ts";
import { TimelineBars } from "./time/timeline-bars.ts";

/** The most steps whose progress is kept. */
const maxProgress = 200;

/** The state of the connection. */
export interface Link {
  readonly isLive: boolean;
  /** When the next try begins, on the clock of this machine. Null: there is a connection, or none is tried. */
  readonly againAt: EpochMs | null;
  readonly code: string | null;
  /** When something was heard last, on the clock of this machine. Null: never. */
  readonly newsAt: EpochMs | null;
}

/** What a step tells while it runs. */
export interface StepProgress {
  readonly frame: ProgressFrame;
  /** When its attempt began. Null: that was not told. */
  readonly since: EpochMs | null;
}

/** What the model takes from its surroundings. */
export interface ModelSurroundings {
  readonly replay: ReplayClient;
  /** The clock of this machine. */
  now(): EpochMs;
  /** Calls back once, before the next picture is drawn. */
  schedule(callback: () => void): void;
}

/**
 * What the page knows of one execution. It takes the frames of a stream, keeps the events, and has the state at the last version, and at an
 * earlier one if that is looked at. A frame that comes twice changes nothing. Listeners are told at most once in each frame of the screen.
 */
export class ExecutionModel {
  readonly id: string;
  readonly #around: ModelSurroundings;
  readonly #listeners = new Set<() => void>();
  readonly #live: LatestAnswer<number, ExecutionState | null>;
  readonly #past: LatestAnswer<number, ExecutionState | null>;
  readonly #definitions = new Map<string, WorkflowDefinition | null>();
  readonly #unknown = new Set<string>();
  #events: Event[] = [];
  /** How many events the thread that folds has. */
  #sent = 0;
  #isScheduled = false;
  #revision = 0;
  #bars = new TimelineBars();
  #head: ExecutionView | null = null;
  /** The version that the server has told of. What was before it is not the present, so it is not folded for it. */
  #awaited = -1;
  #link: Link = { isLive: true, againAt: null, code: null, newsAt: null };
  #problem: string | null = null;
  #isGone = false;
  #error: unknown = null;
  #state: ExecutionState | null = null;
  #lookedAt: number | null = null;
  #pastState: ExecutionState | null = null;
  #progress = new Map<string, StepProgress>();

  constructor(id: string, around: ModelSurroundings) {
    this.id = id;
    this.#around = around;
    const ask = (version: number): Promise<ExecutionState | null> => around.replay.state(version);
    this.#live = new LatestAnswer(ask, (state) => {
      if (state) this.#state = state;
      this.#touch();
    });
    this.#past = new LatestAnswer(ask, (state) => {
      this.#pastState = state;
      this.#touch();
    });
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Rises whenever something has changed. For `useSyncExternalStore`. */
  readonly revision = (): number => this.#revision;

  /** The events so far. The list grows in place: compare its length. */
  get events(): readonly Event[] {
    return this.#events;
  }
  /** The version of the last event; -1 before the first. */
  get last(): number {
    return this.#events.at(-1)?.version ?? -1;
  }
  /** What the server says of the present. */
  get head(): ExecutionView | null {
    return this.#head;
  }
  /** The state at the last version. Null: not folded yet, or the events up to the present have not come yet. */
  get state(): ExecutionState | null {
    return this.#state;
  }
  /** The version that is looked at; null: the last one. */
  get lookedAt(): number | null {
    return this.#lookedAt !== null && this.#lookedAt < this.last ? this.#lookedAt : null;
  }
  /** The state at the version that is looked at. While it is folded, that of the version before it. */
  get shown(): ExecutionState | null {
    return this.lookedAt === null ? this.#state : (this.#pastState ?? this.#state);
  }
  get bars(): TimelineBars {
    return this.#bars;
  }
  get link(): Link {
    return this.#link;
  }
  /** The code of the problem for which the server can tell nothing. Null: none. */
  get problem(): string | null {
    return this.#problem;
  }
  /** The events are told without their values, although the caller may see them: the execution is large. */
  isBrief = false;
  /** The execution does not exist, or no longer. */
  get isGone(): boolean {
    return this.#isGone;
  }
  /** Why it cannot be followed at all. */
  get error(): unknown {
    return this.#error;
  }
  /** What the steps that run now have told last, by path. */
  get progress(): ReadonlyMap<string, StepProgress> {
    return this.#progress;
  }

  /** The definition with a hash; null if it cannot be had, undefined if it is not there yet. */
  definition(hash: string): WorkflowDefinition | null | undefined {
    return this.#definitions.get(hash);
  }

  /** The hashes of the definitions that the execution follows, now or earlier, and that were not given yet. */
  get unknownHashes(): readonly string[] {
    return [...this.#unknown];
  }

  /** Gives a definition; null: it cannot be had. */
  define(hash: string, definition: WorkflowDefinition | null): void {
    if (this.#definitions.has(hash)) return;
    this.#definitions.set(hash, definition);
    this.#unknown.delete(hash);
    this.#around.replay.define(hash, definition);
    this.#askAgain();
    this.#touch();
  }

  /** Says that it cannot be followed. Null: it is tried again. */
  fail(error: unknown): void {
    this.#error = error;
    this.#touch();
  }

  /** Looks at a version of the past; null: at the last one, whatever comes. */
  look(version: number | null): void {
    if (this.#lookedAt === version) return;
    this.#lookedAt = version;
    if (version === null) this.#pastState = null;
    this.#send();
    this.#askPast();
    this.#touch();
  }

  /** Returns the snapshot at a version; null if the events do not give it. */
  snapshot(version: number): Promise<Snapshot | null> {
    this.#send();
    return this.#around.replay.snapshot(version);
  }

  /** Takes in a frame of the stream. Frames of other executions are ignored. */
  take(frame: StreamFrame): void {
    if (frame.type === "link") this.#takeLink(frame);
    else if (frame.type !== "list" && (frame.execution === undefined || frame.execution === this.id)) this.#takeTold(frame);
    this.#touch();
  }

  #takeTold(frame: Exclude<StreamFrame, LinkFrame | ListFrame>): void {
    this.#link = { ...this.#link, newsAt: this.#around.now() };
    this.#problem = frame.type === "problem" ? frame.code : null;
    if (frame.type === "event") this.#takeEvent(frame.event);
    else if (frame.type === "head") this.#takeHead(frame.view);
    else if (frame.type === "progress") this.#takeProgress(frame);
    else if (frame.type === "reset") this.#reset();
    else if (frame.type === "end") this.#isGone = true;
  }

  #takeLink({ isLive, againInMs, code }: LinkFrame): void {
    const now = this.#around.now();
    this.#link = {
      isLive,
      code: code ?? null,
      againAt: againInMs === undefined ? null : now + againInMs,
      newsAt: isLive ? now : this.#link.newsAt,
    };
  }

  #takeEvent(event: Event): void {
    const { last } = this;
    // the first event of a trimmed history is followed by the present run
    const isNext = event.version === last + 1 || (event.type === "continued" && last >= 0 && event.version > last);
    if (!isNext || (last < 0 && event.type !== "started")) return;
    this.#events.push(event);
    this.#bars.see(event);
    if ("definition" in event) this.#needs(event.definition.hash);
    if ("pathId" in event) this.#progress.delete(pathOf(event));
  }

  #takeHead(view: ExecutionView): void {
    this.#head = view;
    this.#awaited = view.version;
    this.#needs(view.definition.hash);
    if (view.lease === null) this.#progress.clear();
  }

  #needs(hash: string): void {
    if (!this.#definitions.has(hash)) this.#unknown.add(hash);
  }

  #takeProgress(frame: ProgressFrame): void {
    const before = this.#progress.get(frame.pathId);
    const known = before?.frame.attempt === frame.attempt ? before.since : null;
    this.#progress.delete(frame.pathId);
    this.#progress.set(frame.pathId, { frame, since: frame.progress === undefined ? frame.at : known });
    if (this.#progress.size > maxProgress) this.#progress.delete(this.#progress.keys().next().value!);
  }

  #reset(): void {
    this.#events = [];
    this.#sent = 0;
    this.#awaited = -1;
    this.#bars = new TimelineBars();
    this.#progress.clear();
    this.#isGone = false;
    this.#pastState = null;
    this.#live.drop();
    this.#past.drop();
    this.#around.replay.reset();
    for (const [hash, definition] of this.#definitions) this.#around.replay.define(hash, definition);
  }

  #touch(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#around.schedule(() => {
      this.#isScheduled = false;
      this.#revision++;
      if (this.#send()) this.#askAgain();
      for (const listener of this.#listeners) listener();
    });
  }

  /** Sends the events that are new to the thread that folds. */
  #send(): boolean {
    if (this.#sent === this.#events.length) return false;
    this.#around.replay.add(this.#events.slice(this.#sent));
    this.#sent = this.#events.length;
    return true;
  }

  #askAgain(): void {
    if (this.last < 0) return;
    this.#send();
    if (this.last >= this.#awaited) this.#live.ask(this.last);
    // the version that is looked at may be one that had not come yet
    if (this.#pastState === null) this.#askPast();
  }

  #askPast(): void {
    if (this.#lookedAt !== null && this.#lookedAt <= this.last) this.#past.ask(this.#lookedAt);
  }
}

/** The name of the path of an event, with the key of the child that it is in. */
function pathOf({ scope, pathId }: { readonly scope?: string; readonly pathId: string }): string {
  return scope === undefined ? pathId : `${scope}>${pathId}`;
}
