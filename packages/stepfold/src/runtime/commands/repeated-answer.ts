import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { itemOf, parentKey, scopedKey } from "../../core/snapshot/address.ts";
import type { MetadataSetEvent, RestartedEvent } from "../../core/snapshot/event.ts";
import type { AnsweredKey } from "../../core/snapshot/parts/answered-key.ts";
import { type AnsweredEvent, isAnsweredEvent } from "../../core/snapshot/result.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { readTarget } from "../../core/snapshot/target.ts";
import { patchedMetadata } from "../../core/transition/patched-metadata.ts";
import { canonicalJson } from "../../core/values/canonical-json.ts";
import { isJsonObject } from "../../core/values/json.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { Command } from "../../engine/commands/command.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { olderVersion } from "./older-keys.ts";

/** The key under which a command counts only once: its type and its idempotency key. */
export type OnceKey = Pick<AnsweredKey, "command" | "key">;

/** Returns the key under which a command counts only once; null if it has none, or one that will be refused. */
export function onceKeyOf(command: Command): OnceKey | null {
  if (!("idempotencyKey" in command) || typeof command.idempotencyKey !== "string") return null;
  return { command: command.type, key: command.idempotencyKey };
}

/** A command that was committed before under an idempotency key. */
export interface Earlier {
  /** Its event; null if it belongs to an earlier run, whose events were trimmed. */
  readonly event: AnsweredEvent | null;
}

/** Returns what was committed under a key before; null if nothing was, or if it is so long ago that the key is not known any more. */
export async function answeredBefore(store: SnapshotStore, snapshot: Snapshot, wanted: OnceKey): Promise<Earlier | null> {
  const { workflowId, answered } = snapshot;
  const held = answered?.find(({ command, key }) => key === wanted.key && command === wanted.command);
  const version = held?.version ?? (await olderVersion(store, snapshot, wanted));
  if (version === null) return null;
  const [row] = await store.events(workflowId, version - 1, 1);
  const event = row?.version === version ? row.event : null;
  return { event: event && isAnsweredEvent(event) ? event : null };
}

/**
 * Checks that a command repeats what was given under its key before, as far as that is still known.
 *
 * @throws StepfoldError `RESUME_CONFLICT` if the payload, the wait, the signal or the person differs; `METADATA_CONFLICT` if the metadata
 * differ
 */
export function requireRepeated({ event }: Earlier, workflowId: string, command: Command): void {
  if (!event || event.type === "restarted") return;
  if (event.type === "metadataSet") {
    requireSameMetadata(event, workflowId, command);
    return;
  }
  const payload = "payload" in command ? command.payload : undefined;
  const isSame =
    payload === undefined
      ? event.payload === undefined
      : event.payload !== undefined && canonicalJson(event.payload) === canonicalJson(normalise(payload, "The payload").value);
  if (isSame && hasSameTarget(event, command)) return;
  throw new StepfoldError("RESUME_CONFLICT", { workflowId, waitId: event.type === "resumed" ? event.waitId : event.name });
}

/** Checks that a patch would not change the metadata as they were after the first command. @throws StepfoldError `METADATA_CONFLICT` */
function requireSameMetadata({ metadata }: MetadataSetEvent, workflowId: string, command: Command): void {
  const patch = command.type === "setMetadata" && normalise(command.patch, "The metadata").value;
  if (isJsonObject(patch) && canonicalJson(patchedMetadata(metadata, patch)) === canonicalJson(metadata)) return;
  throw new StepfoldError("METADATA_CONFLICT", { workflowId });
}

/** Whether the event and the command are about the same wait or signal, as far as the command names one, and the same person. */
function hasSameTarget(event: Exclude<AnsweredEvent, MetadataSetEvent | RestartedEvent>, command: Command): boolean {
  if (command.type === "signal") return event.type === "signalled" && event.name === command.name && event.key === command.key;
  if (command.type !== "resume" || event.type !== "resumed" || event.who !== command.by) return false;
  const { scope = "", pathId, waitId, firstId, nodeId } = event;
  const wanted = readTarget(command.target);
  if (wanted.waitId !== undefined) return wanted.waitId === waitId || wanted.waitId === firstId;
  if (wanted.pathId !== undefined) return wanted.pathId === scopedKey(scope, pathId);
  // with an item, the node of the target may be the map around the wait, so only the item is compared
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
