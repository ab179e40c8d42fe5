import { existsSync } from "node:fs";
import { type ExecutionCounts, isTerminal, type Status, statuses } from "stepfold";
import { agoText } from "stepfold/core";
import { countExecutions } from "stepfold/runtime";
import { publicUrl } from "stepfold/stores/from-url";
import { BadInput } from "../bad-input.ts";
import { shellLine } from "../execution/shell-quote.ts";
import { exitCode } from "../exit-code.ts";
import { say } from "../output.ts";
import { programName } from "../program-name.ts";
import { chooseDatabase, openExistingDatabase, type Store } from "../store/database.ts";
import { checkFilter, type FilterOptions, queryOf, wordsOf } from "../store/filter.ts";
import { paintFor } from "../text/paint.ts";
import { printable } from "../text/printable.ts";
import { statusMeaning } from "../text/status-meaning.ts";
import { tableLines } from "../text/table.ts";
import { waitsFor } from "../text/waits-for.ts";

/** Options of `stepfold ls`. */
export interface LsOptions extends FilterOptions {
  readonly order?: string;
  readonly count?: boolean;
  readonly limit?: string;
  readonly cursor?: string;
  readonly store?: string;
  readonly json?: boolean;
}

type Page = Awaited<ReturnType<Store["list"]>>;

/** A page of executions, each with a text that says what it waits for. */
interface Listed extends Omit<Page, "items"> {
  readonly items: readonly (Page["items"][number] & { readonly waitsFor: string })[];
  /** The time by the store's clock. */
  readonly now: number;
}

const defaultLimit = 20;
/** The most executions of each status that are counted: the default of `countExecutions`. */
const maxCount = 10_000;
const noCounts: ExecutionCounts = {
  counts: { active: 0, paused: 0, error: 0, parked: 0, completed: 0, failed: 0, cancelled: 0 },
  ...{ capped: false, complete: true },
};
const emptyPage: Listed = { items: [], nextCursor: null, now: 0 };

/** `stepfold ls`: lists the executions of a database, newest first unless `--order` says otherwise. @returns the exit code */
export async function ls(options: LsOptions): Promise<number> {
  checkFilter(options);
  const limit = options.limit === undefined ? defaultLimit : readLimit(options.limit);
  const order = readOrder(options.order);
  const database = chooseDatabase(options.store);
  if (options.count) return count(options);
  let page = emptyPage;
  // if no store was named, a missing database means that there are no executions yet
  if (!database.isDefault || existsSync(database.path!)) {
    const store = await openExistingDatabase(database);
    try {
      const found = await store.list({
        ...{ ...queryOf(options, await store.now()), limit, order },
        ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
      });
      page = await withWaits(found, store);
    } finally {
      await store.close();
    }
  }
  const { items, nextCursor } = page;
  say(options.json ? `${JSON.stringify({ type: "page", items, nextCursor })}\n` : listText(page, database.name, options));
  return exitCode.done;
}

/** `stepfold ls --count`: counts the executions of each status. */
async function count(options: LsOptions): Promise<number> {
  const { store: url, json } = options;
  const database = chooseDatabase(url);
  const store = !database.isDefault || existsSync(database.path!) ? await openExistingDatabase(database) : null;
  try {
    const which = queryOf(options, store ? await store.now() : 0);
    const found = store ? await countExecutions(store, which) : noCounts;
    say(json ? `${JSON.stringify({ type: "counts", ...found })}\n` : countText(found, which.status ?? statuses));
  } finally {
    await store?.close();
  }
  return exitCode.done;
}

function countText({ counts, capped, complete }: ExecutionCounts, asked: readonly Status[]): string {
  const paint = paintFor(process.stdout);
  const rows = asked.map((status) => [
    { text: status, meaning: statusMeaning[status] },
    { text: `${counts[status]}${!complete || (capped && counts[status] >= maxCount) ? " or more" : ""}` },
  ]);
  return `${tableLines(["STATUS", "EXECUTIONS"], rows, paint, process.stdout.columns).join("\n")}\n`;
}

/** Adds to each execution what it waits for. Every one that has not ended is loaded for this; a page has few enough (1,000 at most). */
async function withWaits({ items, nextCursor }: Page, store: Store): Promise<Listed> {
  const told: Listed["items"][number][] = [];
  const now = await store.now();
  for (const item of items) {
    const snapshot = isTerminal(item.status) ? null : await store.load(item.workflowId);
    told.push({ ...item, waitsFor: snapshot ? waitsFor(snapshot, now) : "" });
  }
  return { items: told, nextCursor, now };
}

function listText({ items, nextCursor, now }: Listed, database: string, options: LsOptions): string {
  const paint = paintFor(process.stdout);
  if (items.length === 0 && nextCursor !== null)
    return `None among those looked at so far in ${database}\n\nMore: ${paint("command", moreCommand(nextCursor, options))}\n`;
  if (items.length === 0) {
    const some = options.cursor !== undefined || wordsOf(options).length > 0;
    return some ? `No such executions in ${database}\n` : `No executions in ${database} yet. Start one: stepfold run FILE\n`;
  }
  const hasRuns = items.some(({ run, restarts }) => (run ?? restarts) !== undefined);
  const rows = items.map(({ workflowId, status, definition, currentNodeId, updatedAt, waitsFor: wanted, ...numbers }) => [
    { text: printable(workflowId, 255) },
    { text: status, meaning: statusMeaning[status] },
    ...(hasRuns ? [{ text: runsText(numbers) }] : []),
    { text: definition.id },
    { text: currentNodeId ?? "" },
    { text: wanted },
    { text: agoText(now - updatedAt), meaning: "quiet" as const },
  ]);
  const titles = ["EXECUTION", "STATUS", ...(hasRuns ? ["RUN"] : []), "WORKFLOW", "AT", "WAITS FOR", "CHANGED"];
  const lines = tableLines(titles, rows, paint, process.stdout.columns);
  return `${lines.join("\n")}\n${nextCursor === null ? "" : `\nMore: ${paint("command", moreCommand(nextCursor, options))}\n`}`;
}

/** Says which run an execution is in, and how often it was restarted: `3`, `1, restarted twice`. */
function runsText({ run = 1, restarts = 0 }: Pick<Listed["items"][number], "run" | "restarts">): string {
  if (restarts === 0) return String(run);
  return `${run}, restarted ${restarts === 1 ? "once" : restarts === 2 ? "twice" : `${restarts} times`}`;
}

function moreCommand(cursor: string, options: LsOptions): string {
  const { order, limit, store } = options;
  const words = [
    ...wordsOf(options),
    ...(order === undefined ? [] : ["--order", order]),
    ...(limit === undefined ? [] : ["--limit", limit]),
    ...(store === undefined ? [] : ["--store", publicUrl(store)]),
  ];
  return shellLine([...programName(), "ls", "--cursor", cursor, ...words]);
}

function readOrder(text: string | undefined): "newest" | "oldest" {
  if (text === undefined || text === "newest") return "newest";
  if (text === "oldest") return text;
  throw new BadInput("USAGE", `--order must be newest or oldest, not "${text}"`);
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return limit;
  throw new BadInput("USAGE", `--limit must be a whole number from 1 to 1000, not "${text}"`);
}
