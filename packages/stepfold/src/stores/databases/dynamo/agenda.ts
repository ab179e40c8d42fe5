import type { Item } from "./dynamo-client.ts";
import { type Lane, noTurn, storedText } from "./dynamo-keys.ts";
import { type Connection, insist } from "./dynamo-requests.ts";

/** An entry of the agenda: an execution, or a tombstone, and when its time comes. Whether it still holds, only the item itself can say. */
export interface Entry {
  readonly pk: string;
  readonly workflowId: string;
  readonly turn: string;
}

/** Name of the index of what is due, ended and deleted. */
export const agendaIndex = "agenda";

/** Which entries, and how many at most. */
export interface Wanted {
  readonly lanes: readonly Lane[];
  /** A place in time. Default: the beginning. */
  readonly from?: string;
  /** Another one. Default: the end. */
  readonly before?: string;
  readonly limit: number;
  readonly definitionId?: string | null;
}

/** The first entries of some lists between places in time, in order. */
export async function entriesBefore(connection: Connection, { lanes, ...wanted }: Wanted): Promise<Entry[]> {
  const { keys } = connection;
  const shards = Array.from({ length: keys.shards }, (_, shard) => shard);
  const partitions = lanes.flatMap((lane) => shards.map((shard) => keys.lane(lane, shard)));
  const found = await Promise.all(partitions.map((partition) => entriesOf(connection, partition, wanted)));
  return found
    .flat()
    .sort((a, b) => (a.turn < b.turn ? -1 : 1))
    .slice(0, wanted.limit);
}

/** The first entries of one partition of a list. */
export async function entriesOf({ client, table, keys }: Connection, lane: string, wanted: Omit<Wanted, "lanes">): Promise<Entry[]> {
  const { from = noTurn, before, limit, definitionId = null } = wanted;
  const ofDefinition = definitionId === null ? null : storedText(definitionId);
  const entries: Entry[] = [];
  for (let start: Item | undefined; ; ) {
    const { Items: items = [], LastEvaluatedKey: last } = await insist(() =>
      client.query({
        TableName: table,
        IndexName: agendaIndex,
        KeyConditionExpression:
          before === undefined ? "#lane = :lane AND #turn >= :from" : "#lane = :lane AND #turn BETWEEN :from AND :before",
        ...(ofDefinition !== null && { FilterExpression: "#definitionId = :definitionId" }),
        ExpressionAttributeNames: { "#lane": "lane", "#turn": "turn", ...(ofDefinition !== null && { "#definitionId": "definitionId" }) },
        ExpressionAttributeValues: {
          ...{ ":lane": lane, ":from": from },
          ...(before !== undefined && { ":before": before }),
          ...(ofDefinition !== null && { ":definitionId": ofDefinition }),
        },
        // counts what is looked at, not what passes the filter
        Limit: ofDefinition === null ? Math.min(limit - entries.length, 2000) : 2000,
        ...(start && { ExclusiveStartKey: start }),
      }),
    );
    for (const { pk, turn } of items) entries.push({ pk: String(pk), workflowId: keys.workflowIdOf(String(pk)), turn: String(turn) });
    if (!last || entries.length >= limit) return entries;
    start = last;
  }
}
