import { belongsTo, itemOf, parentKey, scopedKey } from "../snapshot/address.ts";
import type { Checkpoint, CheckpointState } from "../snapshot/checkpoint.ts";
import type { SuspendedEvent } from "../snapshot/event.ts";
import type { InEvents } from "../snapshot/in-events.ts";
import type { Message } from "../snapshot/message.ts";
import type {
  ActivePath,
  Answer,
  ChildState,
  CompensationResult,
  Context,
  Ending,
  KeptSignal,
  Origin,
  Resumed,
  ScopeHead,
  Snapshot,
  Status,
  Undo,
  UndoneStep,
  Wait,
} from "../snapshot/snapshot.ts";
import type { Variables } from "../snapshot/variables.ts";
import type { EpochMs } from "../values/json.ts";
import { lastMs } from "../values/timestamp.ts";

/** How a new execution goes on from a checkpoint of another one, its origin. */
export interface GoingOn {
  readonly reason: Origin["reason"];
  /** By how many milliseconds all times are moved, so that waits and retries keep the time that was left to them in the origin. */
  readonly laterMs: number;
  /**
   * The path whose failure or timeout ended the origin: its step gets all its attempts again. Null or absent if there is none. The times of
   * its wait are moved by this `laterMs`, so that the wait gets its whole time again.
   */
  readonly anew?: {
    readonly scope: string;
    readonly pathId: string;
    readonly laterMs: number;
    /** The waits for a detached execution whose failure made the step fail: the step waits again. Null or absent: it is performed again. */
    readonly waitsAgain?: Pick<SuspendedEvent, "turn" | "waits"> | null | undefined;
  } | null;
  /** By how many milliseconds passed deadlines of children are moved, by child key: these children get their whole time again. */
  readonly expired?: ReadonlyMap<string, number>;
  /** Messages to the detached executions of the origin for which the new execution waits. */
  readonly adopts?: readonly Adoption[];
  /** True if the compensations of the origin are not taken over, so that the undone steps count as not undone. */
  readonly dropsCompensations?: boolean;
}

/** The message that takes over a detached execution of the origin; it names the wait for the end of that execution. */
export type Adoption = Omit<Extract<Message, { readonly type: "adopt" }>, "id">;

/**
 * Makes a checkpoint of an execution that has not ended and is not undoing steps.
 *
 * A step that waits for a detached execution is performed again and starts a new one, unless the one that the origin started is adopted. A
 * step that waits for the delivery of its signal is performed again too. All versions are reduced by the last version of the origin: they
 * become 0 or negative, and so lie before those of the new execution.
 */
export function takeCheckpoint(snapshot: Snapshot, given: GoingOn, base: number = snapshot.version): Checkpoint {
  const { workflowId, incarnation, version } = snapshot;
  const { reason } = given;
  const goingOn = given.anew?.waitsAgain && !mayWaitAgain(given) ? { ...given, anew: { ...given.anew, waitsAgain: null } } : given;
  return Object.freeze({
    from: Object.freeze({ workflowId, ...(incarnation !== undefined && { incarnation }), version, reason }),
    state: Object.freeze(stateOf(snapshot, goingOn, base)),
  });
}

function stateOf(snapshot: Snapshot, goingOn: GoingOn, base: number): CheckpointState {
  const { childStates = {}, mapItems, inbox, compensations, schemas } = snapshot;
  const awake = wokenScopes(snapshot, goingOn);
  const { dropsCompensations, adopts = [] } = goingOn;
  const kept = dropsCompensations ? undefined : compensations;
  const paused = pausedScopes(snapshot, goingOn);
  const statusAt = (key: string, status: Status): Status => (awake.has(key) ? "active" : (paused.get(key) ?? status));
  return {
    ...movedScope(snapshot, "", base, goingOn),
    status: statusAt("", snapshot.status === "parked" ? "active" : snapshot.status),
    currentNodeId: snapshot.currentNodeId,
    steps: snapshot.steps,
    sizeBytes: snapshot.sizeBytes,
    context: movedContext(snapshot.context, base),
    ...(snapshot.variables && { variables: movedVariables(snapshot.variables, base) }),
    ...(snapshot.lastStartedAt !== undefined && { lastStartedAt: snapshot.lastStartedAt }),
    ...(snapshot.totalExecutionTime !== undefined && { totalExecutionTime: snapshot.totalExecutionTime }),
    ...(inbox && { inbox: inbox.map((signal) => movedSignal(signal, goingOn)) }),
    ...(adopts.length > 0 && { outbox: adopts.map((adoption, i) => ({ id: `0.${i}`, ...adoption })) }),
    ...(snapshot.childStates && {
      childStates: Object.fromEntries(
        Object.entries(childStates).map(([key, child]) => [key, movedChild(child, key, base, statusAt(key, child.status), goingOn)]),
      ),
    }),
    ...(mapItems && { mapItems }),
    ...(schemas && { schemas }),
    ...(kept && { compensations: kept.map((done) => movedCompensation(done, base)) }),
  };
}

/** Returns the keys of the scopes in which a step is performed again, and of all scopes around them. */
function wokenScopes({ activePaths, childStates = {} }: Snapshot, goingOn: GoingOn): ReadonlySet<string> {
  const awake = new Set<string>();
  for (const [key, scope] of [["", { activePaths }] as const, ...Object.entries(childStates)]) {
    if (!scope.activePaths.some((path) => isPerformedAgain(path, key, goingOn))) continue;
    for (let around = key; around !== ""; around = parentKey(around)) awake.add(around);
    awake.add("");
  }
  return awake;
}

/** Returns the status of the scope of a path that waits again (`waitsAgain`), and of the scopes around it, by key. */
function pausedScopes({ activePaths, childStates = {} }: Snapshot, { anew }: GoingOn): ReadonlyMap<string, Status> {
  const statuses = new Map<string, Status>();
  if (!anew?.waitsAgain) return statuses;
  for (let key: string | null = anew.scope; key !== null; key = key === "" ? null : parentKey(key)) {
    const paths = key === "" ? activePaths : childStates[key]!.activePaths;
    const standing = new Set<string>();
    for (const { id, status, children } of paths) {
      if (id !== anew.pathId || key !== anew.scope) standing.add(status);
      if (!children) continue;
      const group = scopedKey(key, children.key);
      for (const [child, { status: of, queued }] of Object.entries(childStates))
        if (queued === undefined && parentKey(child) === key && belongsTo(child, group)) standing.add(statuses.get(child) ?? of);
    }
    const isActive = standing.has("ready") || standing.has("active");
    statuses.set(key, isActive ? "active" : standing.has("retrying") || standing.has("error") ? "error" : "paused");
  }
  return statuses;
}

/**
 * Whether a step may wait again for an execution that has failed: the execution is adopted, and the step is not inside an item of a map,
 * because an item that waits would have to give its place in the map to another item.
 */
function mayWaitAgain({ anew, adopts = [] }: GoingOn): boolean {
  for (let key = anew!.scope; key !== ""; key = parentKey(key)) if (itemOf(key) !== null) return false;
  return anew!.waitsAgain!.waits.every(({ id }) => adopts.some(({ waitId }) => waitId === id));
}

/**
 * Whether the step of a path is performed again: it waits for a detached execution that is not adopted, or for the delivery of its signal,
 * or its failure has ended the origin (and it does not wait again, see `waitsAgain`).
 */
function isPerformedAgain(path: ActivePath, scope: string, goingOn: GoingOn): boolean {
  const { adopts = [], anew } = goingOn;
  const waitsForMessage = path.waits?.some(
    ({ kind, id }) => kind === "delivery" || (kind === "child" && !adopts.some(({ waitId }) => waitId === id)),
  );
  return waitsForMessage === true || (path.status !== "suspended" && isAnew(path, scope, goingOn) && !anew?.waitsAgain);
}

function isAnew({ id }: ActivePath, scope: string, { anew }: GoingOn): boolean {
  return anew?.pathId === id && anew.scope === scope;
}

type ScopeState = Pick<ScopeHead, "activePaths" | "output" | "error" | "rounds" | "begun">;

function movedScope(scope: ScopeHead, key: string, base: number, goingOn: GoingOn): ScopeState {
  const { output, error, rounds, begun } = scope;
  return {
    activePaths: scope.activePaths.map((path) => movedPath(path, key, base, goingOn)),
    ...(output !== undefined && { output }),
    ...(error && { error }),
    ...(rounds && { rounds }),
    ...(begun && { begun }),
  };
}

function movedChild(child: ChildState, key: string, base: number, status: Status, goingOn: GoingOn): ChildState {
  const { ending, queued, deadlineAt, inEvents: _, ...rest } = child;
  return {
    ...rest,
    ...movedScope(child, key, base, goingOn),
    status,
    version: child.version - base,
    context: movedContext(child.context, base),
    ...(child.variables && { variables: movedVariables(child.variables, base) }),
    ...(deadlineAt !== undefined && { deadlineAt: later(deadlineAt, goingOn.expired?.get(key) ?? goingOn.laterMs) }),
    ...(queued !== undefined && { queued: queued - base }),
    ...(ending && { ending: movedEnding(ending, base) }),
  };
}

function movedPath(path: ActivePath, scope: string, base: number, goingOn: GoingOn): ActivePath {
  const { waits, inputs, nextRetryAt, undoes, since, resumed, ...rest } = path;
  const moved = {
    ...rest,
    since: since - base,
    ...(resumed && { resumed: movedResumed(resumed, goingOn) }),
    ...(inputs && { inputs: inputs.map(({ nodeId, version }) => ({ nodeId, version: version - base })) }),
    ...(undoes && { undoes: movedUndo(undoes, base) }),
  };
  if (isPerformedAgain(path, scope, goingOn)) {
    const { resumed, ...begun } = moved;
    // a step that failed because its detached execution failed must not see that result again: it starts a new execution
    const forgets = goingOn.anew?.waitsAgain === null && isAnew(path, scope, goingOn);
    const turn = path.turn + 1;
    // the ids of detached executions are made of the visit, and those of deleted executions stay taken
    const isNewVisit = goingOn.reason === "restart" && (forgets || path.waits?.some(({ kind }) => kind === "child"));
    return { ...begun, ...(resumed && !forgets && { resumed }), status: "ready", turn, attempts: 0, ...(isNewVisit && { visit: turn }) };
  }
  const { laterMs, anew } = goingOn;
  if (anew?.waitsAgain && isAnew(path, scope, goingOn)) {
    const { resumed: _, ...waiting } = moved;
    const { turn, waits: again } = anew.waitsAgain;
    // the wait keeps its id: the detached execution, or its restart, names this id in its link to the parent
    return { ...waiting, status: "suspended", turn: turn + 1, attempts: 0, waits: again.map((wait) => movedWait(wait, anew.laterMs)) };
  }
  const waitsLaterMs = anew && isAnew(path, scope, goingOn) ? anew.laterMs : laterMs;
  return {
    ...moved,
    ...(nextRetryAt !== undefined && { nextRetryAt: later(nextRetryAt, laterMs) }),
    ...(waits && { waits: waits.map((wait) => movedWait(wait, waitsLaterMs)) }),
  };
}

function movedWait(wait: Wait, laterMs: number): Wait {
  const { openedAt, resumeAt, timeoutAt, ...rest } = withoutReferences(wait);
  return {
    ...rest,
    ...(openedAt !== undefined && { openedAt: later(openedAt, laterMs) }),
    ...(resumeAt !== undefined && { resumeAt: later(resumeAt, laterMs) }),
    ...(timeoutAt !== undefined && { timeoutAt: later(timeoutAt, laterMs) }),
  };
}

/** Moves what a step was resumed with. Waits that may open again (`reopens`) keep the time that was left to them. */
function movedResumed(resumed: Resumed, { laterMs }: GoingOn): Resumed {
  const { reopens, ...rest } = withoutReferences(resumed);
  if (!reopens) return rest;
  const { version: _, ...others } = reopens;
  return { ...rest, reopens: { ...others, waits: reopens.waits.map((wait) => movedWait(wait, laterMs)) } };
}

/** Removes the references to events, because these are events of another execution. The values themselves are in the holder. */
function withoutReferences<H extends InEvents & { readonly answers?: readonly Answer[] }>(holder: H): H {
  const { inEvents: _, ...rest } = holder;
  const { answers } = holder;
  return (answers ? { ...rest, answers: answers.map(withoutReferences) } : rest) as H;
}

/** Returns a time moved by `laterMs`, but at most the last time that a `Date` can hold. */
function later(at: EpochMs, laterMs: number): EpochMs {
  return Math.min(at + laterMs, lastMs);
}

function movedSignal(signal: KeptSignal, { laterMs }: GoingOn): KeptSignal {
  return { ...withoutReferences(signal), expiresAt: later(signal.expiresAt, laterMs) };
}

function movedContext(context: Context, base: number): Context {
  const moved = Object.entries(context).map(([nodeId, results]) => [
    nodeId,
    results.map((result) => ({ ...result, version: result.version - base })),
  ]);
  return Object.fromEntries(moved) as Context;
}

function movedVariables(variables: Variables, base: number): Variables {
  const moved = Object.entries(variables).map(([name, values]) => [
    name,
    values.map(({ value, version }) => ({ value, version: version - base })),
  ]);
  return Object.fromEntries(moved) as Variables;
}

function movedUndo<U extends Undo>(undo: U, base: number): U {
  return undo.version === undefined ? undo : { ...undo, version: undo.version - base };
}

function movedCompensation(done: CompensationResult, base: number): CompensationResult {
  return { ...done, version: done.version - base, undoes: movedUndo(done.undoes, base) };
}

function movedEnding(ending: Ending, base: number): Ending {
  const moved = (steps: readonly UndoneStep[]): UndoneStep[] => steps.map((step) => movedUndo(step, base));
  return { ...ending, begun: moved(ending.begun), ...(ending.again && { again: moved(ending.again) }) };
}
