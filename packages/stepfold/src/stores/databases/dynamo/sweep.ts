import { deleteItems } from "./batch-write.ts";
import type { Key } from "./dynamo-client.ts";
import type { Tombstone } from "./dynamo-heads.ts";
import { allRows } from "./dynamo-history.ts";
import { headKey, storedText } from "./dynamo-keys.ts";
import { type Connection, itemsOf, updateItem } from "./dynamo-requests.ts";

/**
 * Deletes the rows of an execution that a tombstone has replaced, then says so in the tombstone. Until then it stays in
 * the agenda, so that a prune goes on where a crash ended this.
 */
export async function sweep(connection: Connection, workflowId: string, tombstone: Tombstone): Promise<Tombstone> {
  const { keys, retentionMs } = connection;
  const { incarnation, deletedAt } = tombstone;
  const pk = keys.execution(workflowId);
  for (const kind of ["c", "e", "p"] as const) {
    let found: Key[] = [];
    for await (const { sk } of itemsOf(connection, pk, { ...allRows(incarnation, kind), only: ["sk"] })) {
      found.push({ pk, sk: String(sk) });
      if (found.length < 1000) continue;
      await deleteItems(connection, found);
      found = [];
    }
    await deleteItems(connection, found);
  }
  const set = {
    unswept: null,
    lane: keys.lane("deleted", keys.shardOf(workflowId)),
    expiresAt: Math.ceil((deletedAt + retentionMs) / 1000),
  };
  await updateItem(
    connection,
    { pk, sk: headKey },
    {
      set,
      when: [
        ["incarnation", "=", storedText(incarnation)],
        ["deletedAt", "=", deletedAt],
      ],
    },
  );
  return { ...tombstone, unswept: false };
}
