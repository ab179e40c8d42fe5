import { belongsTo, itemOf, parentKey, scopedKey } from "../snapshot/address.ts";
import type { Checkpoint, CheckpointState } from "../snapshot/checkpoint.ts";
import type { Carried, SuspendedEvent } from "../snapshot/event.ts";
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
import { latestValues } from "./draft/draft-variables.ts";

/** How an execution goes on from a checkpoint. */
export interface GoingOn {
  readonly reason: Origin["reason"];
  /** How much later it goes on than it stood there: waits and retries keep the time that was left to them. */
  readonly laterMs: number;
  /** The path whose end ended the execution: its step gets all its attempts again. `laterMs`: its wait gets its whole time again. */
  readonly anew?: {
    readonly scope: string;
    readonly pathId: string;
    readonly laterMs: number;
    /** It waits once more, as it had before it failed because a detached execution did. */
    readonly waitsAgain?: Pick<SuspendedEvent, "turn" | "waits"> | null | undefined;
  } | null;
  /** How much later the deadlines of children are that had passed: these get their whole time again. By the keys of the children. */
  readonly expired?: ReadonlyMap<string, number>;
  /** Messages to the detached executions that the new execution goes on to wait for. */
  readonly adopts?: readonly Adoption[];
  /** The steps that were undone count as not undone. */
  readonly keepsUndone?: boolean;
}

/** A detached execution that is taken over, and the wait for its end. */
export type Adoption = Omit<Extract<Message, { readonly type: "adopt" }>, "id">;

/**
 * Makes a checkpoint of an execution that has not ended and undoes nothing.
 *
 * A step that waits for a detached execution is performed again, and starts one of its own, unless that of the origin is adopted.
 */
export function takeCheckpoint(snapshot: Snapshot, given: GoingOn): Checkpoint {
  const { workflowId, incarnation, version } = snapshot;
  const { reason } = given;
  const goingOn = given.anew?.waitsAgain && !mayWaitAgain(given) ? { ...given, anew: { ...given.anew, waitsAgain: null } } : given;
  return Object.freeze({
    from: Object.freeze({ workflowId, ...(incarnation !== undefined && { incarnation }), version, reason }),
    state: Object.freeze(stateOf(snapshot, goingOn)),
  });
}

function stateOf(snapshot: Snapshot, goingOn: GoingOn): CheckpointState {
  const { version: base, childStates = {}, mapItems, inbox, compensations, schemas } = snapshot;
  const awake = wokenScopes(snapshot, goingOn);
  const { keepsUndone, adopts = [] } = goingOn;
  const kept = keepsUndone ? undefined : compensations;
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

/** What an execution hands over to the one that it goes on as. */
export function carriedBy(origin: Omit<Origin, "reason">, inbox: readonly KeptSignal[], variables: Variables): Carried {
  const { workflowId, incarnation, version } = origin;
  const from = { workflowId, ...(incarnation !== undefined && { incarnation }), version, reason: "continueAs" } as const;
  return Object.freeze({
    from: Object.freeze(from),
    ...(inbox.length > 0 && { inbox: inbox.map(withoutReferences) }),
    ...(Object.keys(variables).length > 0 && { variables: latestValues(variables) }),
  });
}

/** The scopes in which a step is to be performed that had another status before, with all scopes around them. */
function wokenScopes({ activePaths, childStates = {} }: Snapshot, goingOn: GoingOn): ReadonlySet<string> {
  const awake = new Set<string>();
  for (const [key, scope] of [["", { activePaths }] as const, ...Object.entries(childStates)]) {
    if (!scope.activePaths.some((path) => isPerformedAgain(path, key, goingOn))) continue;
    for (let around = key; around !== ""; around = parentKey(around)) awake.add(around);
    awake.add("");
  }
  return awake;
}

/** The scopes around a path that waits once more, with the status that they have then. */
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
 * Whether a step waits once more for an execution that has failed: it is adopted, and the step is in no item of a map, where it would leave
 * its place to another item by that. Otherwise it is performed again.
 */
function mayWaitAgain({ anew, adopts = [] }: GoingOn): boolean {
  for (let key = anew!.scope; key !== ""; key = parentKey(key)) if (itemOf(key) !== null) return false;
  return anew!.waitsAgain!.waits.every(({ id }) => adopts.some(({ waitId }) => waitId === id));
}

/** Whether the step of a path begins anew: it waits for a detached execution or the arrival of its signal, or its failure has ended the execution. */
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
    // what failed because a detached execution did begins without being told of that, and starts another one
    const forgets = goingOn.anew?.waitsAgain === null && isAnew(path, scope, goingOn);
    return { ...begun, ...(resumed && !forgets && { resumed }), status: "ready", turn: path.turn + 1, attempts: 0 };
  }
  const { laterMs, anew } = goingOn;
  if (anew?.waitsAgain && isAnew(path, scope, goingOn)) {
    const { resumed: _, ...waiting } = moved;
    const { turn, waits: again } = anew.waitsAgain;
    // under the same name: the execution that it waits for, or what that was restarted as, has it in its link
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

/** What may open again keeps the time that was left to it. */
function movedResumed(resumed: Resumed, { laterMs }: GoingOn): Resumed {
  const { reopens, ...rest } = withoutReferences(resumed);
  if (!reopens) return rest;
  const { version: _, ...others } = reopens;
  return { ...rest, reopens: { ...others, waits: reopens.waits.map((wait) => movedWait(wait, laterMs)) } };
}

/** Its values are there, and lie in the events of another execution. */
function withoutReferences<H extends InEvents & { readonly answers?: readonly Answer[] }>(holder: H): H {
  const { inEvents: _, ...rest } = holder;
  const { answers } = holder;
  return (answers ? { ...rest, answers: answers.map(withoutReferences) } : rest) as H;
}

/** No later than a date can be. */
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
