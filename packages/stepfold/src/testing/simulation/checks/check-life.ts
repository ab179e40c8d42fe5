import type { CompiledWorkflow } from "../../../core/definition/compiled.ts";
import { openScopes, scopedKey } from "../../../core/snapshot/address.ts";
import type { CompletedEvent, ContinuedEvent, Event, RestartedEvent, StartedEvent } from "../../../core/snapshot/event.ts";
import { isTerminal, type Snapshot } from "../../../core/snapshot/snapshot.ts";
import { draftAfter, workflowAt } from "../../../core/transition/apply.ts";
import { begin } from "../../../core/transition/begin.ts";
import type { Draft } from "../../../core/transition/draft/draft.ts";
import { listedWaitsOf } from "../../../core/transition/draft/listed-waits.ts";
import { scopeAt } from "../../../core/transition/draft/open-draft.ts";
import type { Commit } from "../../../ports/snapshot-store.ts";
import type { Ledger, LedgerEntry } from "../ledger.ts";
import { waitsIn } from "./waits-in.ts";

/** True for the events after which an execution is open: it is started, goes on with its next run, or is restarted. */
export function opensExecution(event: Event): event is StartedEvent | ContinuedEvent | RestartedEvent {
  return event.type === "started" || event.type === "continued" || event.type === "restarted";
}

/**
 * I22: runs and restarts of an execution count up by one, and it is restarted only after its end. I6: a cancelled execution begins no
 * further run.
 */
export function checkGoingOn(ledger: Ledger, { workflowId, head, events: before, status }: LedgerEntry, commit: Commit): void {
  const { events, checkpoint } = commit;
  let { number } = head.run ?? { number: 1 };
  const last = before.findLast((event) => event.type === "restarted" || isWholeCancel(event));
  let isCancelled = last?.type === "cancelled";
  for (const event of events) {
    if (event.type === "restarted") {
      if (!isTerminal(status)) ledger.violate("I22", `it was restarted while it was ${status}`, workflowId);
      isCancelled = false;
      checkListed(ledger, commit);
    }
    if (event.type !== "started" && opensExecution(event) && !checkpoint)
      ledger.violate("I22", `${event.type} was committed without a checkpoint, so a load reads what was before it`, workflowId);
    if (event.type === "continued" && event.run !== ++number)
      ledger.violate("I22", `run ${event.run} followed run ${number - 1}`, workflowId);
    if (event.type === "continued" && isCancelled) ledger.violate("I6", `it was cancelled, and run ${event.run} began`, workflowId);
    isCancelled ||= isWholeCancel(event);
  }
}

/** I10: the row of an ended execution lists no waits, so the commit that opens it lists all. */
function checkListed(ledger: Ledger, { workflowId, head: { activePaths }, children = [], waits = [] }: Commit): void {
  const scopes = children.flatMap(({ key, head }) => (head ? [[key, { ...head, context: {} }] as const] : []));
  const [told, open] = [waits, listedWaitsOf({ activePaths, childStates: Object.fromEntries(scopes) })].map((list) => JSON.stringify(list));
  if (told !== open) ledger.violate("I10", `the commit of a restart lists ${told}, and it waits for ${open}`, workflowId);
}

function isWholeCancel(event: Event): boolean {
  return event.type === "cancelled" && !event.pathIds && event.scope === undefined;
}

/** I22: the head counts the runs and restarts that are in the history, and a restart with a key counts once. */
export function checkLife(ledger: Ledger, { workflowId, events, head }: LedgerEntry): void {
  const [first] = events;
  const restarts = events.filter((event) => event.type === "restarted");
  const runs = events.filter((event) => event.type === "continued").length + 1;
  const isFromOther = first?.type === "started" && first.checkpoint !== undefined;
  if ((head.restarts ?? 0) !== restarts.length && !isFromOther)
    ledger.violate("I22", `it counts ${head.restarts ?? 0} restarts, and had ${restarts.length}`, workflowId);
  if ((head.run?.number ?? 1) !== runs && !isFromOther)
    ledger.violate("I22", `it counts ${head.run?.number ?? 1} runs, and had ${runs}`, workflowId);
  const starts = events.flatMap((event) => ("starts" in event && event.starts) || []);
  const descendants = starts.reduce((sum, start) => sum + 1 + (start.descendants ?? 0), 0);
  if ((head.descendants ?? 0) !== descendants && !isFromOther)
    ledger.violate("I22", `it counts ${head.descendants ?? 0} descendants, and has allowed ${descendants}`, workflowId);
  const keys = restarts.flatMap(({ idempotencyKey = [] }) => idempotencyKey);
  if (new Set(keys).size < keys.length) ledger.violate("I22", "it was restarted twice under one key", workflowId);
}

/** A step that was completed: its idempotency key without the id of the execution, and the version of the event. */
export interface Done {
  readonly key: string;
  readonly version: number;
}

/**
 * I23: in the life of an execution, no step is completed twice under one idempotency key, no two waits have one id, and no two detached
 * executions are started under one id.
 *
 * @returns the steps that were completed
 */
export function checkNames(ledger: Ledger, entry: LedgerEntry, workflowOf: (hash: string) => CompiledWorkflow): readonly Done[] {
  const [first, ...others] = entry.events as [StartedEvent, ...Event[]];
  const used = new Set<string>();
  const use = (name: string): void => {
    if (used.has(name)) ledger.violate("I23", `${name} was used twice`, entry.workflowId);
    used.add(name);
  };
  const done: Done[] = [];
  let draft: Draft = begin(workflowOf(first.definition.hash), first);
  for (const event of others) {
    if (event.type === "completed" && !event.undoes) {
      const key = keyOf(draft, event);
      use(`key ${key}`);
      done.push({ key, version: event.version });
    }
    if (event.type === "suspended") for (const { id } of event.waits) use(`wait ${id}`);
    if (event.type === "suspended" && event.starts?.workflowId !== undefined) use(`execution ${event.starts.workflowId}`);
    draft = draftAfter(draft, event, workflowAt(draft, event, workflowOf)) ?? draft;
  }
  return done;
}

function keyOf(draft: Draft, { scope = "", pathId, turn }: Pick<CompletedEvent, "scope" | "pathId" | "turn">): string {
  const path = scopeAt(draft, scope)?.paths.find(({ id }) => id === pathId);
  // a step that code has asked for has no path before its first event, whose turn is its visit
  return `${scopedKey(scope, pathId)}#${path?.visit ?? turn}`;
}

/** Whether a wait had ended at this time. A parent that was restarted since may have waited for the same execution once more. */
function isOver(events: readonly Event[], waitId: string, at: number): boolean {
  const last = events.findLast(
    (event) => event.at <= at && (("waitId" in event && event.waitId === waitId) || waitsIn(event).some(({ id }) => id === waitId)),
  );
  return last?.type === "resumed" || last?.type === "timedOut";
}

/**
 * I24: a detached execution ends with what waits for it. It goes on alone only if somebody restarts it after its parent has gone on or
 * ended.
 */
export function checkChild(ledger: Ledger, entry: LedgerEntry, parent: Snapshot | null): void {
  const { workflowId, head, status, openedAtMs } = entry;
  const { waitId, incarnation, workflowId: parentId } = head.parent ?? {};
  // an execution whose end is decided may still have messages to deliver
  if (waitId === undefined || isTerminal(status) || entry.decidedAtMs !== null) return;
  if (!parent || parent.incarnation !== incarnation) return;
  const isAwaited = [...openScopes(parent)].some(([, paths]) => paths.some(({ waits = [] }) => waits.some(({ id }) => id === waitId)));
  const { decidedAtMs = null, events: told = [] } = ledger.entries.get(parentId!) ?? {};
  const restarted = entry.events.findLast(({ type }) => type === "restarted");
  const isRestartedAlone = restarted && (decidedAtMs === null || openedAtMs >= decidedAtMs || isOver(told, waitId, restarted.at));
  if (!isAwaited && !isRestartedAlone)
    ledger.violate("I24", `it is ${status}, and ${parentId}, which is ${parent.status}, does not wait`, workflowId);
}
