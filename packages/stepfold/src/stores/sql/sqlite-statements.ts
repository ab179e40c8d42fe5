import { dueAtSql } from "./due-at.ts";

/** For `status IN ...`. */
export const terminalStatuses = "('completed', 'failed', 'cancelled')";

/**
 * The commit of a holder while the status stays: sets no indexed column, so no index is written.
 * Parameters: version, head, wake_at, now, id, incarnation, expected version, status, fence.
 *
 * @param now what gives the time; it may use ?4
 */
export function stepStatement(now: string): string {
  return `
    UPDATE executions SET version = ?1, head = ?2, wake_at = ?3, updated_at = ${now}, crashes = 0
    WHERE id = ?5 AND incarnation = ?6 AND version = ?7 AND status = ?8 AND fence = ?9 AND owner IS NOT NULL
    RETURNING seq`;
}

/**
 * Any other commit. Somebody else's leaves the holder its lease.
 * Parameters: version, head, wake_at, now, status, fence, whether the claim ends with it, id, incarnation, expected version.
 *
 * @param now what gives the time; it may use ?4
 */
export function changeStatement(now: string): string {
  return `
    UPDATE executions SET version = ?1, head = ?2, wake_at = ?3, updated_at = ${now}, status = ?5,
      ended_at = CASE WHEN ?5 IN ${terminalStatuses} THEN ${now} END,
      due_at = CASE WHEN ?7 THEN ${dueAtSql("?3", now)} WHEN owner IS NULL THEN ${dueAtSql("?3", now, "due_at")} ELSE due_at END,
      owner = CASE WHEN ?7 THEN NULL ELSE owner END,
      lease_until = CASE WHEN ?7 THEN NULL ELSE lease_until END,
      crashes = CASE WHEN ?6 IS NULL THEN crashes ELSE 0 END
    WHERE id = ?8 AND incarnation = ?9 AND version = ?10 AND status NOT IN ${terminalStatuses}
      AND (?6 IS NULL OR (fence = ?6 AND owner IS NOT NULL))
    RETURNING seq`;
}

/** What guards an execution's writes. Parameter: id. */
export const executionStatement =
  "SELECT seq, incarnation, version, status, owner, fence, lease_until AS leaseUntil FROM executions WHERE id = ?";

/** Part of the history. Parameters: id, version it comes after, most of them. */
export const rowsStatement = `
    SELECT events.version, commit_id AS commitId, event
    FROM (SELECT seq FROM executions WHERE id = ?1) CROSS JOIN events
    WHERE execution = seq AND events.version > CAST(?2 AS INTEGER) ORDER BY events.version LIMIT ?3`;

/**
 * Ended executions, those first that were changed least recently.
 * Parameters: changed before, JSON array of statuses, most of them, id of the definition or null.
 */
export const endedStatement = `
    SELECT seq FROM executions
    INDEXED BY executions_ended
    WHERE ended_at < ?1 AND status IN (SELECT value FROM json_each(?2)) AND (?4 IS NULL OR definition_id = ?4)
    ORDER BY ended_at, seq LIMIT ?3`;

/** Keeps a definition. Parameters: hash, JSON. */
export const putDefinitionStatement = "INSERT OR IGNORE INTO definitions (hash, definition) VALUES (?, ?)";

/** A definition. Parameter: hash. */
export const definitionStatement = "SELECT definition FROM definitions WHERE hash = ?";
