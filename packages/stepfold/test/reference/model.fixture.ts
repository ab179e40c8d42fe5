import { resumeInItem, spawn } from "./model-children.fixture.ts";
import { edgeName, edgesFrom, type ModelDefinition, startOf } from "./model-definition.fixture.ts";
import { beginEnding, giveUp, isTerminal, nextUndo, tryAgain, undoAddress } from "./model-endings.fixture.ts";
import { beginRun, type Decision, reopened } from "./model-lives.fixture.ts";
import { arrive, complete, failNode, resume } from "./model-moves.fixture.ts";
import { settle, waiterFor } from "./model-settle.fixture.ts";
import {
  allFrames,
  endPath,
  type Frame,
  type ModelError,
  type ModelPath,
  type ModelStatus,
  newScope,
  type ResultReference,
  type World,
} from "./model-state.fixture.ts";

/** An event of the model. Tasks and waits have names as in "Paths and their names". */
export type ModelEvent =
  /** `handles` of `completed`: `[""]` is the default handle; `[]` is no handle at all, so that the path ends. */
  | { readonly type: "begun"; readonly task: string }
  | { readonly type: "completed"; readonly task: string; readonly handles: readonly string[]; readonly terminate?: boolean }
  | { readonly type: "failed"; readonly task: string; readonly retry: boolean }
  | { readonly type: "suspended"; readonly task: string; readonly waits: readonly ModelWaitRequest[] }
  | { readonly type: "spawned"; readonly task: string }
  | { readonly type: "resumed"; readonly wait: string }
  | { readonly type: "signalled"; readonly name: string }
  | { readonly type: "retried"; readonly path: string }
  | { readonly type: "unparked" }
  | { readonly type: "cancelled" }
  | { readonly type: "cancelledNode"; readonly node: string }
  /** Instead of `completed`, for a task of the execution itself: the next run begins. */
  | { readonly type: "continued"; readonly task: string };

/** A wait that a step asks for. */
export interface ModelWaitRequest {
  readonly kind: "external" | "signal";
  readonly signal?: string;
  readonly transient?: boolean;
}

/** One node on one path that could be performed now. */
export interface ModelTask {
  readonly name: string;
  readonly chain: string;
  readonly pathId: string;
  readonly turn: number;
  readonly visit: number;
  readonly nodeId: string;
  readonly attempts: number;
  /** True if the event `begun` of this visit was applied; always true for a compensation. */
  readonly begun: boolean;
  /** True if the path was resumed or retried during this visit. */
  readonly touched: boolean;
  /** The results with which the path came to the node. */
  readonly inputs: readonly ResultReference[];
  /** True for a compensation. `pathId` is then the path of the step that is undone, relative to the ending scope. */
  readonly undo?: boolean;
}

/** An open path with the address of its scope. */
export interface ModelPathView extends Omit<ModelPath, "via"> {
  readonly chain: string;
  readonly via: string | null;
}

/** Choices that the rules leave open. */
export interface ModelOptions {
  /** Makes the part after the `~` of an id that would be longer than 32 characters ("Forks"). */
  readonly hashId?: (id: string) => string;
}

/**
 * A slow and simple implementation of docs/path-semantics.md, with which tests compare the engine. Comments of the model cite that page by
 * heading, in quotes.
 *
 * Every transition works on a copy of a JSON value, and nothing else is kept between two calls.
 */
export class Model {
  readonly #world: { current: World };
  #run = 1;
  /** How the end was decided. "unclear": parts of the execution had failed before, and the model does not follow them. */
  #decision: Decision | "unclear" | null = null;
  readonly #definition: ModelDefinition;
  readonly #hashId: (id: string) => string;

  private constructor(definition: ModelDefinition, world: World, hashId: (id: string) => string) {
    this.#definition = definition;
    this.#world = { current: world };
    this.#hashId = hashId;
  }

  /** Starts an execution: it has version 0 and is settled. */
  static start(definition: ModelDefinition, options: ModelOptions = {}): Model {
    const tally = { born: 0 };
    const root = newScope(tally, definition);
    const world: World = {
      version: 0,
      root,
      inbox: [],
      born: tally.born,
      ended: {},
      queue: 0,
      firings: {},
      shorts: [],
      overruns: 0,
      notUndone: [],
    };
    const model = new Model(definition, world, options.hashId ?? plainHash);
    const frame = model.#frame(world);
    for (const first of root.paths) arrive(frame, first, startOf(definition), null);
    finish(frame);
    return model;
  }

  /** Applies one event, so that the version rises by 1. False if the event is late or not legal; then nothing changes. */
  apply(event: ModelEvent): boolean {
    if (isTerminal(this.status)) return false;
    const next = structuredClone(this.#world.current);
    next.version += 1;
    next.shorts = [];
    const frame = this.#frame(next);
    if (event.type === "continued") {
      if (!this.#goOn(frame, event.task)) return false;
    } else if (!handle(frame, event)) return false;
    finish(frame);
    this.#note(event, next);
    this.#world.current = next;
    return true;
  }

  /** Opens an execution again that has failed or was cancelled. False if the model does not know how it was before its end. */
  restart(): boolean {
    const { status, inbox } = { status: this.status, inbox: this.#world.current.inbox };
    if ((status !== "failed" && status !== "cancelled") || !this.#decision || this.#decision === "unclear") return false;
    const world = reopened(this.#decision, this.version + 1, inbox, (one) => this.#frame(one));
    finish(this.#frame(world));
    this.#decision = null;
    this.#world.current = world;
    return true;
  }

  #goOn(frame: Frame, task: string): boolean {
    const { paths, ending, failure } = frame.scope;
    const path = paths.find((candidate) => `${candidate.id}@${candidate.turn}` === task);
    if (!path || ending || failure || (path.status !== "ready" && !(path.status === "held" && path.offered))) return false;
    beginRun(frame, ++this.#run);
    this.#decision = null;
    return true;
  }

  /** Whether a failed task leaves by an edge, or is a compensation. */
  #isCaught(name: string): boolean {
    const task = this.tasks().find((one) => one.name === name);
    return !task || task.undo === true || edgesFrom(this.definitionAt(task.chain), task.nodeId, "error").length > 0;
  }

  /** Remembers how the end of the execution was decided. */
  #note(event: ModelEvent, { root }: World): void {
    if (this.#decision) return;
    const isDecided = root.ending !== null || isTerminal(root.status);
    const failed = event.type === "failed" && !event.retry && !this.#isCaught(event.task) ? event.task : null;
    if (isDecided && (failed !== null || event.type === "cancelled")) this.#decision = { before: this.#world.current, failed };
    else if (isDecided || failed !== null) this.#decision = "unclear";
  }

  /** The tasks of all scopes that could be performed now. */
  tasks(): ModelTask[] {
    const frames = this.#frames().filter((frame) => !waitsForSlot(frame));
    return frames.flatMap((frame) => [...frame.scope.paths.filter(isReady).map((path) => taskOf(frame, path)), ...undoTask(frame)]);
  }

  /** The open paths of all scopes, the root's first. */
  paths(): ModelPathView[] {
    return this.#frames().flatMap((frame) =>
      frame.scope.paths.map((path) => {
        const via = path.via === null ? null : edgeName(frame.definition, path.via);
        return structuredClone({ ...path, chain: frame.chain, via });
      }),
    );
  }

  /** The addresses of the compensations that have failed and wait for their retry. */
  undoRetries(): string[] {
    return this.#frames().flatMap((frame) => (frame.scope.ending?.running.status === "retrying" ? [undoAddress(frame)] : []));
  }

  /** The definition that the paths of this chain run. */
  definitionAt(chain: string): ModelDefinition {
    const frame = this.#frames().find((candidate) => candidate.chain === chain);
    if (!frame) throw new RangeError(`no scope ${chain}`);
    return frame.definition;
  }

  /** How many times each node was entered, by arrivals or by firings of its join. A node of a child is `workflow/node`. */
  firings(): Record<string, number> {
    return { ...this.#world.current.firings };
  }

  /** A copy of the whole state as JSON, with rounds, inbox, endings and the numbers of born and ended paths. */
  world(): World {
    return structuredClone(this.#world.current);
  }

  /** The number of accepted events. */
  get version(): number {
    return this.#world.current.version;
  }

  /** The status of the execution itself. */
  get status(): ModelStatus {
    return this.#world.current.root.status;
  }

  /** The failure of the execution, also while its compensations or other paths still run; null if there is none. */
  get error(): ModelError | null {
    return this.#world.current.root.ending?.error ?? this.#world.current.root.failure;
  }

  /** Copies the model. The copy goes on independently. */
  clone(): Model {
    return new Model(this.#definition, structuredClone(this.#world.current), this.#hashId);
  }

  #frame(world: World): Frame {
    return { world, definition: this.#definition, scope: world.root, chain: "", label: "", outer: null, hashId: this.#hashId };
  }

  #frames(): Frame[] {
    return allFrames(this.#frame(this.#world.current));
  }
}

/** Applies the event itself, before anything settles. False if the event is late or not legal. */
function handle(root: Frame, event: Exclude<ModelEvent, { type: "continued" }>): boolean {
  switch (event.type) {
    case "begun":
    case "completed":
    case "failed":
    case "suspended":
    case "spawned":
      return handleOutcome(root, event) || handleUndo(root, event);
    case "resumed":
      return handleResumed(root, event.wait);
    case "signalled":
      return handleSignal(root, event.name);
    case "retried":
      return handleRetried(root, event.path);
    case "unparked":
      return tryAgain(root);
    case "cancelled":
      if (root.scope.ending) return giveUp(root);
      beginEnding(root, "cancelled", null);
      return true;
    case "cancelledNode": {
      const hit = root.scope.paths.filter((path) => path.nodeId === event.node);
      for (const path of hit) endPath(root, path, "cancelled");
      return hit.length > 0;
    }
  }
}

type OutcomeEvent = Exclude<Extract<ModelEvent, { task: string }>, { type: "continued" }>;

function handleOutcome(root: Frame, event: OutcomeEvent): boolean {
  for (const frame of allFrames(root)) {
    const path = frame.scope.paths.find((candidate) => `${frame.chain}${candidate.id}@${candidate.turn}` === event.task);
    if (event.type === "begun" && path?.status !== "ready") continue;
    if (path && (path.status === "ready" || (path.status === "held" && path.offered))) return applyOutcome(frame, path, event);
  }
  return false;
}

function applyOutcome(frame: Frame, path: ModelPath, event: OutcomeEvent): boolean {
  switch (event.type) {
    case "begun":
      path.begun = true;
      return true;
    case "completed":
      complete(frame, path, event.handles, event.terminate ?? false);
      return true;
    case "failed":
      path.attempts += 1;
      if (event.retry) path.status = "retrying";
      else failNode(frame, path, { code: "TASK_FAILED", nodeId: path.nodeId });
      return true;
    case "suspended":
      if (event.waits.length === 0) return false;
      path.turn += 1;
      path.status = "suspended";
      path.waits = event.waits.map((wait, index) => ({ id: `${path.id}@${path.turn}${index === 0 ? "" : `.${index}`}`, ...wait }));
      return true;
    case "spawned":
      return spawn(frame, path);
  }
}

function handleUndo(root: Frame, event: OutcomeEvent): boolean {
  for (const frame of allFrames(root)) {
    const running = frame.scope.ending?.running;
    if (running?.status !== "ready" || `${undoAddress(frame)}@${running.turn}` !== event.task) continue;
    if (event.type === "suspended" || event.type === "spawned" || event.type === "begun") return false;
    running.attempts += 1;
    if (event.type === "failed" && event.retry) running.status = "retrying";
    else nextUndo(frame, event.type === "failed");
    return true;
  }
  return false;
}

function handleResumed(root: Frame, wait: string): boolean {
  for (const frame of allFrames(root)) {
    const path = frame.scope.paths.find((candidate) => candidate.waits.some((open) => frame.chain + open.id === wait));
    if (path) return goOn(frame, path);
  }
  return false;
}

function handleSignal(root: Frame, name: string): boolean {
  for (const frame of allFrames(root)) {
    const path = waiterFor(frame, name);
    if (path) return goOn(frame, path);
  }
  root.world.inbox.push(name);
  return true;
}

function goOn(frame: Frame, path: ModelPath): boolean {
  if (frame.outer) resumeInItem(frame, path);
  else resume(path);
  return true;
}

function handleRetried(root: Frame, address: string): boolean {
  for (const frame of allFrames(root)) {
    const path = frame.scope.paths.find((candidate) => candidate.status === "retrying" && frame.chain + candidate.id === address);
    if (path) {
      resume(path);
      return true;
    }
    const running = frame.scope.ending?.running;
    if (running?.status === "retrying" && undoAddress(frame) === address) {
      Object.assign(running, { status: "ready", turn: running.turn + 1 });
      return true;
    }
  }
  return false;
}

/** Settles the execution, and marks the paths whose tasks are offered. */
function finish(root: Frame): void {
  settle(root);
  for (const frame of allFrames(root)) for (const path of frame.scope.paths) if (isReady(path)) path.offered = true;
}

/** True if the scope is an item that waits for a slot, or is inside such an item. */
function waitsForSlot(frame: Frame): boolean {
  for (let inner = frame; inner.outer; inner = inner.outer) {
    const { scope } = inner;
    if (inner.outer.scope.children.some((child) => child.scope === scope && child.queued > 0)) return true;
  }
  return false;
}

function isReady(path: ModelPath): boolean {
  return path.status === "ready";
}

function taskOf(frame: Frame, path: ModelPath): ModelTask {
  const { id, turn, visit, nodeId, attempts, begun, touched, from } = path;
  return {
    name: `${frame.chain}${id}@${turn}`,
    chain: frame.chain,
    pathId: id,
    turn,
    visit,
    nodeId,
    attempts,
    begun,
    touched,
    inputs: from,
  };
}

function undoTask(frame: Frame): ModelTask[] {
  const { ending } = frame.scope;
  const effect = ending?.undo[0];
  if (!ending || !effect || ending.running.status !== "ready" || frame.world.root.status === "parked") return [];
  const { turn, attempts } = ending.running;
  const { visit, nodeId, path: pathId } = effect;
  const name = `${undoAddress(frame)}@${turn}`;
  return [{ name, chain: frame.chain, pathId, turn, visit, nodeId, attempts, begun: true, touched: attempts > 0, inputs: [], undo: true }];
}

/** Makes a hash of an id: 64 bits in two lanes of FNV-1a. The engine has another hash. */
function plainHash(id: string): string {
  const lane = (seed: number) => [...id].reduce((hash, char) => Math.imul(hash ^ char.charCodeAt(0), 0x01000193), seed) >>> 0;
  return [0x811c9dc5, 0x9747b28c].map((seed) => lane(seed).toString(16).padStart(8, "0")).join("");
}
