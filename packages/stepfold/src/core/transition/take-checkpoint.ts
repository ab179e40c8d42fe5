import { parentKey } from "../snapshot/address.ts";
import type { Checkpoint, CheckpointState } from "../snapshot/checkpoint.ts";
import { type Acted, actedElsewhere, underNewKey } from "../snapshot/parts/acted.ts";
import { heldKeys } from "../snapshot/parts/answered-key.ts";
import type { Origin } from "../snapshot/parts/lineage.ts";
import type { Variables } from "../snapshot/parts/variables.ts";
import type { Resumed } from "../snapshot/parts/wait.ts";
import type {
  ActivePath,
  ChildState,
  CompensationResult,
  Context,
  Ending,
  ScopeHead,
  Snapshot,
  Status,
  Undo,
  UndoneStep,
} from "../snapshot/snapshot.ts";
import { seedOf } from "./draft/draft.ts";
import { later, movedResumed, movedWait, withoutReferences } from "./moved-waits.ts";

/** How a new execution goes on from a checkpoint of another one, its origin. */
export interface CheckpointTerms {
  readonly reason: Origin["reason"];
  /** By how many milliseconds all times are moved, so that waits and retries keep the time that was left to them in the origin. */
  readonly laterMs: number;
  /** True if the execution runs code. */
  readonly runsCode: boolean;
}

/**
 * Makes a checkpoint of an execution that has not ended and is not undoing steps.
 *
 * A step that waits for a detached execution is performed again and starts a new one; a step that waits for the delivery of its signal is
 * performed again too. All versions are reduced by the last version of the origin: they become 0 or negative, and so lie before those of
 * the new execution.
 */
export function takeCheckpoint(snapshot: Snapshot, { reason, laterMs, runsCode }: CheckpointTerms): Checkpoint {
  const { workflowId, incarnation, version, createdAt: at = 0 } = snapshot;
  const replay = runsCode && (snapshot.from?.replay ?? Object.freeze({ seed: seedOf(snapshot), at }));
  return Object.freeze({
    from: Object.freeze({ workflowId, ...(incarnation !== undefined && { incarnation }), version, reason, ...(replay && { replay }) }),
    state: Object.freeze(stateOf(snapshot, laterMs)),
  });
}

/** What changes in everything that is taken over. */
interface Move extends Pick<CheckpointTerms, "laterMs"> {
  /** What is subtracted from versions. */
  readonly base: number;
  /** Names the execution that has acted under a key. */
  readonly keptAs: (acted: Acted) => Acted;
}

function stateOf(snapshot: Snapshot, laterMs: number): CheckpointState {
  const { version: base, childStates = {}, mapItems, inbox, compensations, schemas, answered } = snapshot;
  const move: Move = { base, laterMs, keptAs: (acted) => actedElsewhere(acted, snapshot) };
  const awake = wokenScopes(snapshot);
  const statusAt = (key: string, status: Status): Status => (awake.has(key) ? "active" : status);
  return {
    ...movedScope(snapshot, move),
    status: statusAt("", snapshot.status === "parked" ? "active" : snapshot.status),
    currentNodeId: snapshot.currentNodeId,
    // paths keep their ids, which further runs must not repeat
    ...(snapshot.run && { run: { number: snapshot.run.number, since: 0, at: snapshot.run.at } }),
    steps: snapshot.steps,
    sizeBytes: snapshot.sizeBytes,
    context: movedContext(snapshot.context, move),
    ...(snapshot.variables && { variables: movedVariables(snapshot.variables, base) }),
    ...(snapshot.lastStartedAt !== undefined && { lastStartedAt: snapshot.lastStartedAt }),
    ...(snapshot.totalExecutionTime !== undefined && { totalExecutionTime: snapshot.totalExecutionTime }),
    ...(inbox && { inbox: inbox.map((signal) => ({ ...withoutReferences(signal), expiresAt: later(signal.expiresAt, laterMs) })) }),
    ...(snapshot.childStates && {
      childStates: Object.fromEntries(
        Object.entries(childStates).map(([key, child]) => [key, movedChild(child, statusAt(key, child.status), move)]),
      ),
    }),
    ...(mapItems && { mapItems }),
    ...(schemas && { schemas }),
    // what was given under these keys is in another history
    ...(answered && { answered: answered.slice(-heldKeys).map((given) => ({ ...given, version: 0 })) }),
    ...(compensations && { compensations: compensations.map((done) => movedCompensation(done, move)) }),
  };
}

/** Returns the keys of the scopes in which a step is performed again, and of all scopes around them. */
function wokenScopes({ activePaths, childStates = {} }: Snapshot): ReadonlySet<string> {
  const awake = new Set<string>();
  for (const [key, scope] of [["", { activePaths }] as const, ...Object.entries(childStates)]) {
    if (!scope.activePaths.some(isPerformedAgain)) continue;
    for (let around = key; around !== ""; around = parentKey(around)) awake.add(around);
    awake.add("");
  }
  return awake;
}

/** Whether the step of a path is performed again: it waits for a detached execution, or for the delivery of its signal. */
function isPerformedAgain({ waits = [] }: ActivePath): boolean {
  return waits.some(({ kind }) => kind === "delivery" || kind === "child");
}

type ScopeState = Pick<ScopeHead, "activePaths" | "output" | "error" | "rounds" | "begun">;

function movedScope(scope: ScopeHead, move: Move): ScopeState {
  const { output, error, rounds, begun } = scope;
  return {
    activePaths: scope.activePaths.map((path) => movedPath(path, move)),
    ...(output !== undefined && { output }),
    ...(error && { error }),
    ...(rounds && { rounds }),
    ...(begun && { begun: begun.map((step) => movedActed(step, move)) }),
  };
}

function movedChild(child: ChildState, status: Status, move: Move): ChildState {
  const { base, laterMs } = move;
  const { ending, queued, deadlineAt, inEvents: _, ...rest } = child;
  return {
    ...rest,
    ...movedScope(child, move),
    status,
    version: child.version - base,
    context: movedContext(child.context, move),
    ...(child.variables && { variables: movedVariables(child.variables, base) }),
    ...(deadlineAt !== undefined && { deadlineAt: later(deadlineAt, laterMs) }),
    ...(queued !== undefined && { queued: queued - base }),
    ...(ending && { ending: movedEnding(ending, move) }),
  };
}

/** The event with the answer is one of another history. */
function takenOver({ reopens, ...resumed }: Resumed): Resumed {
  if (!reopens) return resumed;
  const { version: _, ...rest } = reopens;
  return { ...resumed, reopens: rest };
}

function movedPath(path: ActivePath, move: Move): ActivePath {
  const { base, laterMs, keptAs } = move;
  const { waits, inputs, nextRetryAt, undoes, since, resumed, ...rest } = path;
  const moved = {
    ...underNewKey(rest, keptAs),
    since: since - base,
    ...(resumed && { resumed: takenOver(movedResumed(resumed, laterMs)) }),
    ...(inputs && { inputs: inputs.map(({ nodeId, version }) => ({ nodeId, version: version - base })) }),
    ...(undoes && { undoes: movedUndo(undoes, move) }),
  };
  if (isPerformedAgain(path)) return { ...moved, status: "ready", turn: path.turn + 1, attempts: 0 };
  return {
    ...moved,
    ...(nextRetryAt !== undefined && { nextRetryAt: later(nextRetryAt, laterMs) }),
    ...(waits && { waits: waits.map((wait) => movedWait(wait, laterMs)) }),
  };
}

function movedContext(context: Context, move: Move): Context {
  const moved = Object.entries(context).map(([nodeId, results]) => [
    nodeId,
    results.map((result) => ({ ...movedActed(result, move), version: result.version - move.base })),
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

function movedActed<T extends { readonly acted?: Acted }>(step: T, { keptAs }: Move): T {
  return step.acted ? { ...step, acted: keptAs(step.acted) } : step;
}

function movedUndo<U extends Undo>(undo: U, move: Move): U {
  return undo.version === undefined ? movedActed(undo, move) : { ...undo, version: undo.version - move.base };
}

function movedCompensation(done: CompensationResult, move: Move): CompensationResult {
  return { ...done, version: done.version - move.base, undoes: movedUndo(done.undoes, move) };
}

function movedEnding(ending: Ending, move: Move): Ending {
  const moved = (steps: readonly UndoneStep[]): UndoneStep[] => steps.map((step) => movedUndo(step, move));
  return { ...ending, begun: moved(ending.begun), ...(ending.again && { again: moved(ending.again) }) };
}
