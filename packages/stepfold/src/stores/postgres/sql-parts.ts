import { sqlSeparator } from "./plain-text.ts";

/** Nothing follows these. */
export const terminal = "('completed', 'failed', 'cancelled')";

/**
 * The clock that judges leases and due times: that of the server, and not `now()`, which stands still in a transaction.
 * Read once, so that all times of a statement agree.
 */
export const clock = "clock AS MATERIALIZED (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now)";

/** When the statement came: never later than the state of the data that it sees. */
export const arrival = "floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/** A parameter with many texts. */
export function list(parameter: number): string {
  return `string_to_array($${parameter}, ${sqlSeparator})`;
}

/** A parameter with many numbers, which may be null. */
export function numbers(parameter: number): string {
  return `${nullable(parameter)}::bigint[]`;
}

/** A parameter with many texts, none of which is empty: that is null. */
export function nullable(parameter: number): string {
  return `string_to_array($${parameter}, ${sqlSeparator}, '')`;
}

/**
 * Puts the children of a new execution. Places are given out in the order in which they come, before any of them is put.
 *
 * @param created name of the part that gives its `seq`
 * @param first number of the parameter with the keys; the next has the heads
 */
export function childrenInsert(schema: string, created: string, first: number): string {
  return `placed AS MATERIALIZED (
      SELECT key, head, nextval('${schema}.children_place') AS place
      FROM unnest(${list(first)}, ${list(first + 1)}) AS child (key, head)
    ),
    put AS (
      INSERT INTO ${schema}.children (execution, digest, place, key, head)
      SELECT seq, sha256(convert_to(key, 'UTF8')), place, key::json, head::json FROM ${created}, placed
    )`;
}
