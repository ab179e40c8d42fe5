import { parentKey } from "../snapshot/address.ts";
import type { Checkpoint, CheckpointState } from "../snapshot/checkpoint.ts";
import type { Carried } from "../snapshot/event.ts";
import type { InEvents } from "../snapshot/in-events.ts";
import type {
  ActivePath,
  Answer,
  ChildState,
  CompensationResult,
  Context,
  Ending,
  KeptSignal,
  Origin,
  ScopeHead,
  Snapshot,
  Undo,
  UndoneStep,
  Wait,
} from "../snapshot/snapshot.ts";
import type { EpochMs } from "../values/json.ts";
import { lastMs } from "../values/timestamp.ts";

/** How an execution goes on from a checkpoint. */
export interface GoingOn {
  readonly reason: Origin["reason"];
  /** How much later it goes on than it stood there: waits and retries keep the time that was left to them. */
  readonly laterMs: number;
  /** The path whose end ended the execution: its step gets all its attempts again. `laterMs`: its wait gets its whole time again. */
  readonly anew?: { readonly scope: string; readonly pathId: string; readonly laterMs: number } | null;
  /** The steps that were undone count as not undone. */
  readonly keepsUndone?: boolean;
}

/**
 * Makes a checkpoint of an execution that has not ended and undoes nothing.
 *
 * A step that waits for a detached execution is performed again, and starts one of its own: that of the origin tells only the origin
 * of its end.
 */
export function takeCheckpoint(snapshot: Snapshot, goingOn: GoingOn): Checkpoint {
  const { workflowId, incarnation, version } = snapshot;
  const { reason } = goingOn;
  return Object.freeze({
    from: Object.freeze({ workflowId, ...(incarnation !== undefined && { incarnation }), version, reason }),
    state: Object.freeze(stateOf(snapshot, goingOn)),
  });
}

function stateOf(snapshot: Snapshot, goingOn: GoingOn): CheckpointState {
  const { version: base, childStates = {}, mapItems, inbox, compensations } = snapshot;
  const awake = wokenScopes(snapshot, goingOn);
  const kept = goingOn.keepsUndone ? undefined : compensations;
  return {
    ...movedScope(snapshot, "", base, goingOn),
    status: awake.has("") || snapshot.status === "parked" ? "active" : snapshot.status,
    currentNodeId: snapshot.currentNodeId,
    steps: snapshot.steps,
    sizeBytes: snapshot.sizeBytes,
    context: movedContext(snapshot.context, base),
    ...(snapshot.lastStartedAt !== undefined && { lastStartedAt: snapshot.lastStartedAt }),
    ...(snapshot.totalExecutionTime !== undefined && { totalExecutionTime: snapshot.totalExecutionTime }),
    ...(inbox && { inbox: inbox.map((signal) => movedSignal(signal, goingOn)) }),
    ...(snapshot.childStates && {
      childStates: Object.fromEntries(
        Object.entries(childStates).map(([key, child]) => [key, movedChild(child, key, base, awake.has(key), goingOn)]),
      ),
    }),
    ...(mapItems && { mapItems }),
    ...(kept && { compensations: kept.map((done) => movedCompensation(done, base)) }),
  };
}

/** What an execution hands over to the one that it goes on as. */
export function carriedBy(origin: Omit<Origin, "reason">, inbox: readonly KeptSignal[]): Carried {
  const { workflowId, incarnation, version } = origin;
  const from = { workflowId, ...(incarnation !== undefined && { incarnation }), version, reason: "continueAs" } as const;
  return Object.freeze({ from: Object.freeze(from), ...(inbox.length > 0 && { inbox: inbox.map(withoutReferences) }) });
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

/** Whether the step of a path begins anew: it waits for a detached execution, or its failure has ended the execution. */
function isPerformedAgain(path: ActivePath, scope: string, goingOn: GoingOn): boolean {
  return path.waits?.some(({ kind }) => kind === "child") === true || (path.status !== "suspended" && isAnew(path, scope, goingOn));
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

function movedChild(child: ChildState, key: string, base: number, isWoken: boolean, goingOn: GoingOn): ChildState {
  const { ending, queued, inEvents: _, ...rest } = child;
  return {
    ...rest,
    ...movedScope(child, key, base, goingOn),
    status: isWoken ? "active" : child.status,
    version: child.version - base,
    context: movedContext(child.context, base),
    ...(queued !== undefined && { queued: queued - base }),
    ...(ending && { ending: movedEnding(ending, base) }),
  };
}

function movedPath(path: ActivePath, scope: string, base: number, goingOn: GoingOn): ActivePath {
  const { waits, inputs, nextRetryAt, undoes, since, resumed, ...rest } = path;
  const moved = {
    ...rest,
    since: since - base,
    ...(resumed && { resumed: withoutReferences(resumed) }),
    ...(inputs && { inputs: inputs.map(({ nodeId, version }) => ({ nodeId, version: version - base })) }),
    ...(undoes && { undoes: movedUndo(undoes, base) }),
  };
  if (isPerformedAgain(path, scope, goingOn)) return { ...moved, status: "ready", turn: path.turn + 1, attempts: 0 };
  const { laterMs, anew } = goingOn;
  const waitsLaterMs = anew && isAnew(path, scope, goingOn) ? anew.laterMs : laterMs;
  return {
    ...moved,
    ...(nextRetryAt !== undefined && { nextRetryAt: later(nextRetryAt, laterMs) }),
    ...(waits && { waits: waits.map((wait) => movedWait(wait, waitsLaterMs)) }),
  };
}

function movedWait(wait: Wait, laterMs: number): Wait {
  const { resumeAt, timeoutAt, ...rest } = withoutReferences(wait);
  return {
    ...rest,
    ...(resumeAt !== undefined && { resumeAt: later(resumeAt, laterMs) }),
    ...(timeoutAt !== undefined && { timeoutAt: later(timeoutAt, laterMs) }),
  };
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
