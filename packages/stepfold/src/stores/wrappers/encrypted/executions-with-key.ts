import { isJsonObject, type Json } from "../../../core/values/json.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { encryptionMark } from "./encrypted-store.ts";

/**
 * The executions that need a key to be read: as long as there are any, keep it. Reads every history, so give it time.
 *
 * ```ts
 * import { executionsWithKey } from "stepfold/stores/encrypted";
 * import { memoryStore } from "stepfold/stores/memory";
 *
 * for await (const workflowId of executionsWithKey(memoryStore(), "2025-01")) console.log(workflowId);
 * ```
 *
 * @param inner the store below the encrypted one
 */
export async function* executionsWithKey(inner: SnapshotStore, keyId: string): AsyncGenerator<string, void> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await inner.list({ limit: 100, ...(cursor !== undefined && { cursor }) });
    for (const { workflowId, metadata } of page.items) {
      const parts: unknown[] = [metadata, await inner.load(workflowId)];
      for (let after = -1; ; ) {
        const rows = await inner.events(workflowId, after, 500);
        parts.push(...rows.map(({ event }) => event));
        if (rows.length < 500) break;
        after = rows.at(-1)!.version;
      }
      if (parts.some((part) => mentions(part as Json, keyId))) yield workflowId;
    }
    cursor = page.nextCursor;
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
