/** Most of those that wait that are looked at in one go. */
export const mostWaiting = 64;

/** What is due. Parameters: 2 from, 3 how long before now. */
const dueSql = (now: string): string => `due_at BETWEEN ?2 AND ${now} - ?3`;

/** How many hold a permit of the key that a row has. Those that neither have a permit nor are held are not in this index. */
function heldSql(row: string, now: string): string {
  return `(SELECT count(*) FROM executions AS held INDEXED BY executions_held
        WHERE held.permit_key = ${row}.permit_key AND held.lease_until > ${now})`;
}

/** True for an execution without a permit, and for one whose turn it may be. */
export function isFreeSql(now: string): string {
  return `(permit_key IS NULL OR permit_limit > ${heldSql("executions", now)})`;
}

/** Statements that find executions that are due. Their parameters: 1 the time, 2 from, 3 how long before now, then what they say. */
export interface DueSql {
  /** Those without a permit, longest due first. Parameter: 4 most. */
  readonly plain: string;
  /** One. Parameter: 4 id. */
  readonly one: string;
  /** Those with one, longest due first: at most `mostWaiting`. */
  readonly waiting: string;
  /** The same by their keys. Parameters: 4 after this one, 5 up to this one or null. */
  readonly waitingAfter: string;
  /** The first with a key. Parameter: 4 the key. */
  readonly waitingFor: string;
  /** Those whose turn it is, longest due first. Parameters: 4 JSON array of seq, at least one for each key, 5 most. */
  readonly turns: string;
}

/**
 * @param now what gives the time
 * @param text what gives the text of a column that may hold any character
 */
export function dueStatements(now: string, text = (column: string): string => column): DueSql {
  const isDue = dueSql(now);
  const waiting = (index: string, which: string, order: string, most = mostWaiting): string => `
    SELECT seq, due_at AS dueAt, ${text("permit_key")} AS key, permit_limit > ${heldSql("waiting", now)} AS isOpen
    FROM executions AS waiting INDEXED BY ${index} WHERE ${which} AND ${isDue} ORDER BY ${order} LIMIT ${most}`;
  return {
    plain: `SELECT seq, due_at AS dueAt FROM executions WHERE permit_key IS NULL AND ${isDue} ORDER BY due_at, seq LIMIT ?4`,
    one: `
    SELECT seq, due_at AS dueAt, permit_key IS NOT NULL AS takesTurns FROM executions WHERE ${isDue} AND id = ?4 AND ${isFreeSql(now)}`,
    waiting: waiting("executions_waiting", "permit_key IS NOT NULL", "due_at, seq"),
    waitingAfter: waiting("executions_due", "permit_key > ?4 AND (?5 IS NULL OR permit_key <= ?5)", "permit_key, due_at, seq"),
    waitingFor: waiting("executions_due", "permit_key = ?4", "due_at, seq", 1),
    // whoever comes after one that has to wait has to wait, too
    turns: `
    SELECT seq, dueAt FROM (
      SELECT seq, dueAt, held, min(permit_limit - place) OVER (PARTITION BY permit_key ORDER BY place) AS room
      FROM (
        SELECT waiting.seq, waiting.due_at AS dueAt, waiting.permit_key, permit_limit, held,
          row_number() OVER (PARTITION BY waiting.permit_key ORDER BY waiting.due_at, waiting.seq) AS place
        FROM (
          SELECT permit_key, ${heldSql("keys", now)} AS held
          FROM (
            SELECT DISTINCT permit_key FROM json_each(?4) AS wanted CROSS JOIN executions ON seq = wanted.value
            WHERE permit_key IS NOT NULL) AS keys) AS line
        CROSS JOIN executions AS waiting ON waiting.seq IN (
          SELECT seq FROM executions WHERE permit_key = line.permit_key AND ${isDue} ORDER BY due_at, seq LIMIT ?5)))
    WHERE room >= held ORDER BY dueAt, seq LIMIT ?5`,
  };
}

/**
 * Makes sure that those whose lease has ended do not come back by renewing it: their places are given to others.
 *
 * @param which the keys
 */
export function lapseStatement(now: string, which: string): string {
  return `UPDATE executions INDEXED BY executions_held SET fence = fence + 1 WHERE permit_key IN (${which}) AND lease_until <= ${now}`;
}

/** One that is due. */
export interface Due {
  readonly seq: number;
  readonly dueAt: number;
}

/** One that takes turns with all that have the same key. */
export interface Waiting extends Due {
  readonly key: string;
  /** Not all places are taken. */
  readonly isOpen: boolean;
}

/** The first of each key for which there is a place; what comes after one that has to wait has to wait, too. */
export function openLines(waiting: readonly Waiting[]): Waiting[] {
  const first = new Map<string, Waiting>();
  for (const one of waiting) if (!first.has(one.key)) first.set(one.key, one);
  return [...first.values()].filter(({ isOpen }) => isOpen);
}

/** The longest due of both. */
export function longestDue<D extends Due>(plain: readonly D[], turns: readonly D[], most: number): readonly D[] {
  if (turns.length === 0) return plain;
  return [...plain, ...turns].sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq).slice(0, most);
}

/** Where the walk through the keys goes on: each is to have its chance, also the last of the alphabet. */
export interface Walk {
  after: string;
}

/** The parts of a walk through all keys that begins where the last one stopped. */
export function walkFrom({ after }: Walk): readonly { readonly from: string; readonly upTo: string | null }[] {
  const rest = { from: after, upTo: null };
  return after === "" ? [rest] : [rest, { from: "", upTo: after }];
}
