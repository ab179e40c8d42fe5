import { isJsonObject, type Json } from "../../../core/values/json.ts";
import { readHistory } from "../../../ports/read-history.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { readExecutions } from "../values/read-all.ts";
import { encryptionMark } from "./encrypted-store.ts";

/**
 * Finds the executions that cannot be read without a certain key. Keep the key as long as there are any. It loads every execution and reads
 * its whole history, which takes time. It does not look at definitions.
 *
 * ```ts
 * import { executionsWithKey } from "stepfold/stores/encrypted";
 * import { memoryStore } from "stepfold/stores/memory";
 *
 * for await (const workflowId of executionsWithKey(memoryStore(), "2025-01")) console.log(workflowId);
 * ```
 *
 * @param inner the inner store of the encrypted store
 */
export async function* executionsWithKey(inner: SnapshotStore, keyId: string): AsyncGenerator<string, void> {
  for await (const { workflowId, metadata } of readExecutions(inner)) {
    const events = (await readHistory(inner, workflowId)).map(({ event }) => event);
    const parts: readonly unknown[] = [metadata, await inner.load(workflowId), ...events];
    if (parts.some((part) => mentions(part as Json, keyId))) yield workflowId;
  }
}

function mentions(value: Json, keyId: string): boolean {
  if (typeof value === "string") return value.startsWith(`${encryptionMark}:`) && value.includes(`"key":${JSON.stringify(keyId)}`);
  if (typeof value !== "object" || value === null) return false;
  if (isJsonObject(value) && Object.hasOwn(value, encryptionMark)) {
    const marker = isJsonObject(value[encryptionMark]) ? value[encryptionMark] : value;
    return marker.key === keyId;
  }
  return Object.values(value).some((member) => mentions(member, keyId));
}
