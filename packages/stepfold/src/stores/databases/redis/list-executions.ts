import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { ExecutionSummary, ListQuery, Page } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import { executionPage, type ListCursor, type ListedRow } from "../../kit/list.ts";
import { listScript } from "./read-scripts.ts";
import { listOf, said } from "./redis-reply.ts";
import type { ScriptStore } from "./script-store.ts";
import { metadataField } from "./write-args.ts";

/** A page of executions, newest first. Where a filter lets few through it takes several calls, each of which looks at 1,000. */
export function listExecutions({ keys, run }: ScriptStore, query: CheckedQuery): Promise<Page<ExecutionSummary>> {
  const filters = filtersOf(query);
  const after = query.createdAfter === undefined ? "" : String(query.createdAfter);
  return executionPage(query.limit, query.cursor, async (cursor, limit) => {
    const rows: ListedRow[] = [];
    for (let place: ListCursor | null = startOf(query, cursor), isEnd = false; !isEnd && rows.length < limit; ) {
      const from: string[] = place ? [String(place.createdAt), String(place.seq)] : ["", ""];
      const [at, seq, found] = listOf(await run(listScript, [keys.due], [...from, after, String(limit - rows.length), ...filters]));
      rows.push(...listOf(found).map((row) => rowOf(listOf(row))));
      place = { createdAt: Number(said(at)), seq: Number(said(seq)) };
      isEnd = said(at) === null;
    }
    return rows;
  });
}

/** What is created before a time is what comes after the place of a first execution in it. */
function startOf({ createdBefore }: ListQuery, cursor: ListCursor | null): ListCursor | null {
  if (createdBefore === undefined || (cursor !== null && cursor.createdAt < createdBefore)) return cursor;
  return { createdAt: createdBefore, seq: 0 };
}

/** The query as the script takes it: text to compare with. */
function filtersOf({ status, definitionId, metadata = {} }: ListQuery): string[] {
  const pairs = Object.entries(metadata).map(([key, value]) => [metadataField(key), String(JSON.stringify(value))]);
  return [
    ...(status ? [String(status.length), ...status] : ["*"]),
    definitionId === undefined ? "*" : `=${definitionId}`,
    String(pairs.length),
    ...pairs.flat(),
  ];
}

function rowOf(fields: readonly unknown[]): ListedRow {
  const texts = fields.map(said);
  const [seq, id, createdAt, version, status, definition, metadata, head, updatedAt, wakeAt] = texts.map((text) => text ?? "");
  const [owner, lease, crashes] = texts.slice(10);
  return {
    seq: Number(seq),
    id: id!,
    createdAt: Number(createdAt),
    version: Number(version),
    status: status as Status,
    definition: definition!,
    metadata: metadata!,
    head: head!,
    updatedAt: Number(updatedAt),
    wakeAt: wakeAt === "" ? null : Number(wakeAt),
    owner: owner ?? null,
    leaseUntil: lease == null ? null : Number(lease),
    crashes: Number(crashes ?? 0),
  };
}
