import type { DueSpan } from "../record/due-time.ts";
import type { Connection, TextRow } from "./connection.ts";
import { plainText, wholeText } from "./plain-text.ts";

/** Whose turn it is next, as far as one handle of a store goes. */
export interface Rota {
  /** The key that the last claim stopped at, as the database holds it; empty: none. */
  after: string;
  /** There was no room for those with a permit, because of all the others. */
  isOwed: boolean;
}

/** Who claims, and how many. */
export interface TurnOptions {
  readonly owner: string;
  readonly leaseMs: number;
  readonly limit: number;
}

/** Claims executions with a permit, of any key. It may find none although there are some, where thousands of keys are in use. */
export async function claimTurns(connection: Connection, rota: Rota, options: TurnOptions, span: DueSpan): Promise<TextRow[]> {
  const { askAnew, sql } = connection;
  const claimed: TextRow[] = [];
  // at the end of the alphabet it goes on at its beginning
  for (let part = 0; part < 2; part++) {
    const most = wholeText(options.limit - claimed.length);
    const start = rota.after;
    const rows = await askAnew(sql.claimTurns, [...claimValues(options, most, span), start]);
    claimed.push(...rows.filter(isTaken));
    if (rows[0]!.is_full === null) break;
    rota.after = rows[0]!.after ?? "";
    if (claimed.length >= options.limit || (rota.after === "" && start === "")) break;
  }
  return claimed;
}

/** Claims executions of one key. */
export async function claimLine(
  { askAnew, sql }: Connection,
  key: string,
  options: TurnOptions,
  span: DueSpan,
): Promise<readonly TextRow[]> {
  return askAnew(sql.claimLine, [...claimValues(options, wholeText(options.limit), span), plainText(key)]);
}

/** Claims one execution, if it has a permit. */
export async function claimTurn(
  { askAnew, sql }: Connection,
  workflowId: string,
  options: TurnOptions,
  span: DueSpan,
): Promise<readonly TextRow[]> {
  return askAnew(sql.claimTurn, claimValues(options, plainText(workflowId), span));
}

/** False for the row that comes where nothing was claimed. */
export function isTaken({ seq }: TextRow): boolean {
  return seq !== null;
}

/** What every claim says. */
export function claimValues({ owner, leaseMs }: TurnOptions, which: string, { from, behindMs }: DueSpan): string[] {
  return [plainText(owner), wholeText(leaseMs), which, wholeText(from), wholeText(behindMs)];
}
