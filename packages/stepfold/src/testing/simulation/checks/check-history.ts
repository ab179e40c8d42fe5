import type { CompiledWorkflow } from "../../../core/definition/compiled.ts";
import { scopedKey } from "../../../core/snapshot/address.ts";
import type { Event, StartedEvent } from "../../../core/snapshot/event.ts";
import { isTerminal, type Snapshot } from "../../../core/snapshot/snapshot.ts";
import { draftAfter, fold, workflowAt } from "../../../core/transition/apply.ts";
import { closeDraft } from "../../../core/transition/draft/close-draft.ts";
import { listedWaitsOf } from "../../../core/transition/draft/listed-waits.ts";
import { openDraft } from "../../../core/transition/draft/open-draft.ts";
import { canonicalJson } from "../../../core/values/canonical-json.ts";
import type { Json } from "../../../core/values/json.ts";
import { defaultLimits } from "../../../core/values/limits.ts";
import { type PreparedWorkflow, prepareStored } from "../../../engine/workflow/prepared-workflow.ts";
import { findSummaries } from "../../../ports/list-fallbacks.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { Ledger, LedgerEntry } from "../ledger.ts";
import type { Random } from "../random.ts";
import { checkNames, type Done, opensExecution } from "./check-life.ts";
import { waitOf, waitsIn } from "./waits-in.ts";

/** I5b: only one answer to a wait without a quorum is applied, and no answer or signal with a key is applied twice. */
export function checkAnswers(ledger: Ledger, { workflowId, events }: LedgerEntry): void {
  const seen = new Set<string>();
  const namesAt = new Map<number, readonly string[]>();
  for (const event of events) {
    // After a refusal the same answer may be given again.
    if (event.type === "answerRefused") for (const name of namesAt.get(event.answer ?? -1) ?? []) seen.delete(name);
    // a restart opens waits again
    if (event.type === "restarted") for (const { id } of waitsIn(event)) seen.delete(`wait ${id}`);
    if (event.type !== "resumed" && event.type !== "signalled" && event.type !== "timedOut") continue;
    const key = "idempotencyKey" in event ? event.idempotencyKey : undefined;
    const names = key === undefined ? [] : [`${event.type} key ${key}`];
    if (event.type !== "signalled" && waitOf(events, event.waitId)?.quorum === undefined) names.push(`wait ${event.waitId}`);
    namesAt.set(event.version, names);
    for (const name of names) {
      if (seen.has(name)) ledger.violate("I5b", `${name} was answered twice`, workflowId);
      seen.add(name);
    }
  }
}

/**
 * I9: no step has more attempts than its policy allows, if that is a number.
 *
 * @param isAsked whether code has asked for the step of a path, which no definition tells the policy of
 */
export function checkAttempts(
  ledger: Ledger,
  { workflowId, events }: LedgerEntry,
  maxAttempts: ReadonlyMap<string, number>,
  isAsked: (address: string) => boolean,
): void {
  for (const event of events) {
    if (event.type !== "failed" || event.undoes || isAsked(scopedKey(event.scope ?? "", event.pathId))) continue;
    const most = maxAttempts.get(event.nodeId) ?? Number.POSITIVE_INFINITY;
    if (event.attempt > most || (event.retryAt !== null && event.attempt >= most))
      ledger.violate("I9", `attempt ${event.attempt} of ${event.nodeId} failed, and ${most} are allowed`, workflowId);
  }
}

/**
 * I10: the stored snapshot is what its history results in, also without the events of earlier runs, and lists find the execution by its
 * waits. I13: the same is true from any version in between, copied as JSON.
 *
 * @param onDone called for each step that was completed
 */
export async function checkFold(
  ledger: Ledger,
  entry: LedgerEntry,
  store: SnapshotStore,
  prepared: (hash: string) => Promise<PreparedWorkflow | null>,
  random: Random,
  onDone: (done: Done) => void,
): Promise<void> {
  const { workflowId, events, version } = entry;
  const stored = await store.load(workflowId);
  if (!stored) return ledger.violate("I10", "what was committed is not there", workflowId);
  if (stored.version !== version) return ledger.violate("I10", `it is stored as version ${stored.version}, not ${version}`, workflowId);
  const [listed] = await findSummaries(store, [workflowId]);
  const [told, open] = [listed?.waits ?? [], listedWaitsOf(stored)].map((waits) =>
    waits
      .map((wait) => JSON.stringify(wait))
      .sort()
      .join(),
  );
  if (told !== open) ledger.violate("I10", `lists say that it waits for ${told}, and it waits for ${open}`, workflowId);
  const workflowOf = await workflowsOf(events, prepared);
  if (!workflowOf) {
    // A failover may lose the definition and keep the execution. A runtime stores the definition again when it next drives the execution, so it
    // must be there once something was committed after the failover.
    if (entry.committedAtMs > ledger.failedOverAtMs) ledger.violate("I10", "its definition is not there", workflowId);
    return;
  }
  const [begun, ...rest] = events as [StartedEvent, ...Event[]];
  const compiled = workflowOf(begun.definition.hash);
  const folded = fold(compiled, [begun, ...rest], workflowOf);
  // A store has all results, but the engine drops those that a node does not keep.
  const present = workflowOf(stored.definition.hash);
  const kept = present.definition.nodes.some(({ keep }) => keep !== undefined) ? closeDraft(openDraft(present, stored)) : stored;
  if (differ(folded, kept)) ledger.violate("I10", `what is stored is not what its history gives: ${difference(folded, kept)}`, workflowId);
  const middle = random.between(0, version);
  const copy = JSON.parse(JSON.stringify(fold(compiled, [begun, ...rest.slice(0, middle)], workflowOf))) as Snapshot;
  let draft = openDraft(workflowOf(copy.definition.hash), copy);
  for (const event of rest.slice(middle)) draft = draftAfter(draft, event, workflowAt(draft, event, workflowOf)) ?? draft;
  const after = closeDraft(draft);
  if (differ(after, folded))
    ledger.violate("I13", `from version ${middle} on it comes to something else: ${difference(folded, after)}`, workflowId);
  const since = stored.run?.since ?? 0;
  const ofRun = since === 0 ? folded : fold(compiled, [begun, ...rest.slice(since - 1)], workflowOf);
  if (differ(withoutLife(ofRun), withoutLife(folded)))
    ledger.violate("I10", `its present run alone gives something else: ${difference(withoutLife(folded), withoutLife(ofRun))}`, workflowId);
  for (const done of checkNames(ledger, entry, workflowOf)) onDone(done);
}

/** Leaves out what a store keeps over all runs: the sizes of all events, the keys of answers, and messages on their way. */
function withoutLife({ historyBytes: _, answered: __, keyRows: ____, outbox: ___, ...snapshot }: Snapshot): Snapshot {
  return snapshot;
}

/** Returns the definitions that a history names, by their hashes; null if one is missing. */
async function workflowsOf(
  events: readonly Event[],
  prepared: (hash: string) => Promise<PreparedWorkflow | null>,
): Promise<((hash: string) => CompiledWorkflow) | null> {
  const named = new Map<string, CompiledWorkflow>();
  for (const event of events) {
    if (!opensExecution(event) || named.has(event.definition.hash)) continue;
    const workflow = await prepared(event.definition.hash);
    if (!workflow) return null;
    named.set(event.definition.hash, workflow.compiled);
  }
  return (hash) => named.get(hash)!;
}

/** I7: when the faults of a schedule have ended, no execution is stuck. */
export function checkSettled(ledger: Ledger, { workflowId, status, wakeAt, head, version, holder }: LedgerEntry): void {
  if (isTerminal(status)) return;
  const where = head.activePaths.map(({ nodeId, status: standing }) => `${nodeId} (${standing})`).join(", ");
  // A parked execution does not move. I9 checks whether it may be parked.
  if (wakeAt !== null || holder)
    ledger.violate("I7", `it is stuck at version ${version}: ${status} at ${where}, due at ${wakeAt}`, workflowId);
}

/** Returns a function that loads a definition by its hash and prepares it for folding. */
export function preparedWorkflows(store: SnapshotStore): (hash: string) => Promise<PreparedWorkflow | null> {
  const known = new Map<string, PreparedWorkflow>();
  return async (hash) => {
    const definition = known.has(hash) ? null : await store.getDefinition(hash);
    if (definition) known.set(hash, prepareStored(definition, {}, defaultLimits));
    return known.get(hash) ?? null;
  };
}

function differ(a: Snapshot, b: Snapshot): boolean {
  return canonicalJson(a as unknown as Json) !== canonicalJson(b as unknown as Json);
}

/** Describes the first member in which two snapshots differ. */
function difference(a: Snapshot, b: Snapshot): string {
  const [left, right] = [a, b] as unknown as [Record<string, Json>, Record<string, Json>];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const [one, other] = [left[key], right[key]].map((value) => (value === undefined ? "nothing" : canonicalJson(value)));
    if (one !== other) return `${key} is ${other?.slice(0, 200)}, not ${one?.slice(0, 200)}`;
  }
  return "nothing";
}
