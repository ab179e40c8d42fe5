import type { Claimed } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../../kit/checked-store.ts";
import { type DueSpan, dueSpans } from "../../record/due-time.ts";
import { dueOf, type Line, look, lookFurther, spanValues } from "./due.ts";
import { refuseLongName } from "./long-names.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { reading, type Session, writing } from "./mysql-session.ts";
import type { Tables } from "./tables.ts";
import { take, takenColumns } from "./take.ts";
import { takeTurns } from "./take-turns.ts";

/** Most executions in one transaction: their histories are read in it. */
const mostTogether = 64;

/** Most keys that are locked by one. */
const mostLines = 16;

/** Where claims of a store are made, and where the last one stopped on its way through the keys. */
export interface ClaimPlace {
  readonly pool: MysqlPool;
  readonly tables: Tables;
  readonly walk: { after: string };
}

/** What is left to claim in a span. */
interface Claiming {
  readonly place: ClaimPlace;
  readonly options: CheckedClaim;
  readonly span: DueSpan;
  readonly claimed: Claimed[];
}

/** Takes what is due. */
export async function claimDue(place: ClaimPlace, options: CheckedClaim): Promise<Claimed[]> {
  refuseLongName("The owner of a claim", options.owner);
  const claimed: Claimed[] = [];
  for (const span of dueSpans(options)) await claimSpan({ place, options, span, claimed });
  return claimed;
}

/** Claims in a span. Whoever has been due longest is asked first, and with it all that take turns, or all others. */
async function claimSpan(claiming: Claiming): Promise<void> {
  const { place, options, span } = claiming;
  if (roomIn(claiming) === 0) return;
  // pollers that find nothing lock nothing
  const { plainAt, lines, isCut } = await reading(place.pool, (session) => look(session, place.tables, options, span));
  const isTurnFirst = lines.length > 0 && (plainAt === null || lines[0]!.dueAt < plainAt);
  if (isTurnFirst) await claimLines(claiming, lines);
  if (plainAt !== null) await claimPlain(claiming);
  if (!isTurnFirst) await claimLines(claiming, lines);
  if (isCut) await claimFurther(claiming);
}

function roomIn({ options, claimed }: Claiming): number {
  return options.limit - claimed.length;
}

/** Claims again and again until there is no more room, or less was found than asked for. */
async function claimAll(
  claiming: Claiming,
  work: (session: Session, options: CheckedClaim) => Promise<readonly (Claimed | null)[]>,
): Promise<void> {
  const { place, options, claimed } = claiming;
  for (let isMore = true; isMore && roomIn(claiming) > 0; ) {
    const limit = Math.min(roomIn(claiming), mostTogether);
    const taken = await writing(place.pool, (session) => work(session, { ...options, limit }));
    claimed.push(...taken.filter((one) => one !== null));
    isMore = taken.length === limit && options.workflowId === undefined;
  }
}

/** Those that take turns with nobody. */
function claimPlain(claiming: Claiming): Promise<void> {
  const { place, span } = claiming;
  return claimAll(claiming, async (session, options) => {
    const { workflowId, limit } = options;
    // who is at work on one of them now has it, or is about to change when it is due; one that is asked for by name is waited for
    const locking = workflowId === undefined ? "FOR UPDATE SKIP LOCKED" : "FOR UPDATE";
    const text = `${dueOf(place.tables, workflowId, takenColumns)} ${locking}`;
    return take(session, place.tables, options, await session.rows(text, [...spanValues(span), workflowId ?? limit]));
  });
}

/** Those whose turn it is. */
async function claimLines(claiming: Claiming, lines: readonly Line[]): Promise<void> {
  const { place, span } = claiming;
  for (let from = 0; from < lines.length && roomIn(claiming) > 0; from += mostLines) {
    const some = lines.slice(from, from + mostLines);
    await claimAll(claiming, (session, options) => takeTurns(session, place.tables, some, options, span));
  }
}

/** Goes on from key to key, because those that have waited longest leave room: each key has its chance, also the last one. */
async function claimFurther(claiming: Claiming): Promise<void> {
  const { place, span } = claiming;
  const { pool, tables, walk } = place;
  const begin = walk.after;
  const parts: [string, string | null][] =
    begin === ""
      ? [["", null]]
      : [
          [begin, null],
          ["", begin],
        ];
  for (const [from, upTo] of parts) {
    for (let after: string | null = from; after !== null && roomIn(claiming) > 0; ) {
      const part: [string, string | null] = [after, upTo];
      const { lines, at } = await reading(pool, (session) => lookFurther(session, tables, part, span));
      await claimLines(claiming, lines);
      walk.after = at ?? "";
      after = at;
    }
  }
}
