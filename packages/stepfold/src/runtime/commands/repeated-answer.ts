import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { itemOf, parentKey, pathsOf, scopedKey } from "../../core/snapshot/address.ts";
import type { Event, ResumedEvent, SignalledEvent } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { readTarget } from "../../core/snapshot/target.ts";
import { canonicalJson } from "../../core/values/canonical-json.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { Command } from "../../engine/commands/command.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

const pageSize = 1_000;

/** A signal or an answer that was given under a key; the node whose wait was answered. */
export interface Answered {
  readonly event: ResumedEvent | SignalledEvent;
  readonly nodeId: string | null;
}

/** Names what a command may be given only once: its kind and its idempotency key; null if it has none. */
export function onceKeyOf(command: Command): string | null {
  if ((command.type !== "resume" && command.type !== "signal") || command.idempotencyKey === undefined) return null;
  return `${command.type} ${command.idempotencyKey}`;
}

/** What was given under these keys before. The whole history is read once, however many keys are asked for. */
export async function answeredBefore(store: SnapshotStore, workflowId: string, keys: ReadonlySet<string>): Promise<Map<string, Answered>> {
  const found = new Map<string, Answered>();
  const nodeOfWait = new Map<string, string>();
  for (let after = -1; found.size < keys.size; ) {
    const rows = await store.events(workflowId, after, pageSize);
    for (const { event } of rows) {
      if (event.type === "suspended") for (const { id } of event.waits) nodeOfWait.set(id, event.nodeId);
      const key = keyOfEvent(event);
      if (key === null || !keys.has(key) || found.has(key)) continue;
      if (event.type === "resumed") found.set(key, { event, nodeId: nodeOfWait.get(event.waitId) ?? null });
      if (event.type === "signalled") found.set(key, { event, nodeId: null });
    }
    if (rows.length < pageSize) break;
    after = rows.at(-1)!.version;
  }
  return found;
}

/** What a command is giving now, by its event. @param snapshot before the event */
export function answerOf(event: Event, snapshot: Snapshot): Answered {
  if (event.type !== "resumed") return { event: event as SignalledEvent, nodeId: null };
  const path = pathsOf(snapshot, event.scope ?? "").find(({ id }) => id === event.pathId);
  return { event, nodeId: path?.nodeId ?? null };
}

/**
 * Whether a command says again what was given under its key before.
 *
 * @throws StepfoldError `RESUME_CONFLICT` if another payload was given, to another wait or by another name
 */
export function isRepeated(earlier: Answered, workflowId: string, command: Command): boolean {
  const { event } = earlier;
  const payload = "payload" in command ? command.payload : undefined;
  const isSame =
    payload === undefined
      ? event.payload === undefined
      : event.payload !== undefined && canonicalJson(event.payload) === canonicalJson(normalise(payload, "The payload").value);
  if (isSame && hasSameTarget(earlier, command)) return true;
  throw new StepfoldError("RESUME_CONFLICT", { workflowId, waitId: event.type === "resumed" ? event.waitId : event.name });
}

function keyOfEvent(event: Event): string | null {
  if ((event.type !== "resumed" && event.type !== "signalled") || event.idempotencyKey === undefined) return null;
  return `${event.type === "resumed" ? "resume" : "signal"} ${event.idempotencyKey}`;
}

/** Whether both name the same wait or signal, as far as the command says which, and the same person. */
function hasSameTarget({ event, nodeId }: Answered, command: Command): boolean {
  if (command.type === "signal") return event.type === "signalled" && event.name === command.name && event.key === command.key;
  if (command.type !== "resume" || event.type !== "resumed" || event.who !== command.by) return false;
  const { scope = "", pathId, waitId } = event;
  const wanted = readTarget(command.target);
  if (wanted.waitId !== undefined) return wanted.waitId === waitId;
  if (wanted.pathId !== undefined) return wanted.pathId === scopedKey(scope, pathId);
  // with an item, the node may be the map around the wait
  if (wanted.item !== undefined) return itemOf(scope) === wanted.item;
  if (wanted.node === undefined) return true;
  const named = Array.from(wanted.node.matchAll(/\[(\d+)\]/g), ([, item]) => Number(item));
  return wanted.node.split("/").at(-1) === nodeId && (named.length === 0 || named.join() === itemsOf(scope).join());
}

/** Indices of the items of maps that a scope lies in, the outermost first. */
function itemsOf(scope: string): readonly number[] {
  if (scope === "") return [];
  const item = itemOf(scope);
  return [...itemsOf(parentKey(scope)), ...(item === null ? [] : [item])];
}
