import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { itemOf, parentKey, scopedKey } from "../../core/snapshot/address.ts";
import type { ResumedEvent, SignalledEvent } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { readTarget } from "../../core/snapshot/target.ts";
import { canonicalJson } from "../../core/values/canonical-json.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { Command } from "../../engine/commands/command.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** A signal or an answer that was given under a key. */
export type Answered = ResumedEvent | SignalledEvent;

/** Names what a command may be given only once: its kind and its idempotency key; null if it has none. */
export function onceKeyOf(command: Command): string | null {
  if ((command.type !== "resume" && command.type !== "signal") || command.idempotencyKey === undefined) return null;
  return `${command.type} ${command.idempotencyKey}`;
}

/** What was given under a key before: the snapshot knows the latest thousand keys, and where in the history each lies. */
export async function answeredBefore(store: SnapshotStore, { workflowId, answered }: Snapshot, key: string): Promise<Answered | null> {
  const found = answered?.find((given) => `${given.command} ${given.key}` === key);
  if (!found) return null;
  const [row] = await store.events(workflowId, found.version - 1, 1);
  const event = row?.event;
  return event?.type === "resumed" || event?.type === "signalled" ? event : null;
}

/**
 * Whether a command says again what was given under its key before.
 *
 * @throws StepfoldError `RESUME_CONFLICT` if another payload was given, to another wait or by another name
 */
export function isRepeated(event: Answered, workflowId: string, command: Command): boolean {
  const payload = "payload" in command ? command.payload : undefined;
  const isSame =
    payload === undefined
      ? event.payload === undefined
      : event.payload !== undefined && canonicalJson(event.payload) === canonicalJson(normalise(payload, "The payload").value);
  if (isSame && hasSameTarget(event, command)) return true;
  throw new StepfoldError("RESUME_CONFLICT", { workflowId, waitId: event.type === "resumed" ? event.waitId : event.name });
}

/** Whether both name the same wait or signal, as far as the command says which, and the same person. */
function hasSameTarget(event: Answered, command: Command): boolean {
  if (command.type === "signal") return event.type === "signalled" && event.name === command.name && event.key === command.key;
  if (command.type !== "resume" || event.type !== "resumed" || event.who !== command.by) return false;
  const { scope = "", pathId, waitId, nodeId } = event;
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
