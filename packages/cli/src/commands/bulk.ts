import type { Json } from "stepfold";
import type { BulkAction, BulkOutcome } from "stepfold/runtime";
import { readDuration } from "../arguments/read-duration.ts";
import { BadInput } from "../bad-input.ts";
import { cleanup } from "../cleanup.ts";
import type { LoadedConfig } from "../config/config.ts";
import { findConfig } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { openQueue, queueUrl } from "../config/open-queue.ts";
import { exitCode } from "../exit-code.ts";
import { jsonArgument } from "../json/json-argument.ts";
import { say } from "../output.ts";
import { givenDefinition } from "../session/given-definition.ts";
import { idleRuntime } from "../session/idle-runtime.ts";
import { chooseDatabase, openExistingDatabase, openQuietly } from "../store/database.ts";
import { checkFilter, type FilterOptions, queryOf, wordsOf } from "../store/filter.ts";
import { type Paint, paintFor } from "../text/paint.ts";
import { printable } from "../text/printable.ts";
import { wantedRestart } from "./restart.ts";

/** Options of every `stepfold bulk` command. */
export interface BulkCommandOptions extends FilterOptions {
  readonly all?: boolean;
  readonly apply?: boolean;
  readonly limit?: string;
  readonly store?: string;
  readonly queue?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** The most characters of a name that are printed; error messages may have twice as many. */
const maxLength = 120;

/** `stepfold bulk cancel`. @returns the exit code */
export function bulkCancel(options: BulkCommandOptions & { readonly reason?: string }): Promise<number> {
  return overAll(options, async () => ({ action: "cancel", reason: options.reason }));
}

/** `stepfold bulk retry`. @returns the exit code */
export function bulkRetry(options: BulkCommandOptions): Promise<number> {
  return overAll(options, async () => ({ action: "retry" }));
}

/** Options of `stepfold bulk signal`. */
export interface BulkSignalOptions extends BulkCommandOptions {
  readonly payload?: string;
  readonly key?: string;
  readonly ttl?: string;
  readonly idempotencyKey?: string;
}

/** `stepfold bulk signal NAME`. @returns the exit code */
export function bulkSignal(name: string, options: BulkSignalOptions): Promise<number> {
  const { payload, key, ttl, idempotencyKey } = options;
  return overAll(options, async () => ({
    ...{ action: "signal", name, key, idempotencyKey },
    ttl: ttl === undefined ? undefined : readDuration("--ttl", ttl, "how long it is kept, such as 1h30m, 2 days or PT5M"),
    ...(payload !== undefined && { payload: await jsonArgument(payload, "--payload") }),
  }));
}

/** Options of `stepfold bulk restart`. */
export interface BulkRestartOptions extends BulkCommandOptions {
  readonly compensated?: string;
  readonly idempotencyKey?: string;
  readonly newKeys?: boolean;
  readonly definition?: string;
}

/** `stepfold bulk restart`. @returns the exit code */
export function bulkRestart(options: BulkRestartOptions): Promise<number> {
  const wanted = wantedRestart(options);
  return overAll(options, async (config) => ({
    ...{ action: "restart", ...wanted },
    definition: await givenDefinition(options.definition, config),
  }));
}

/** Options of `stepfold bulk fork`. */
export interface BulkForkOptions extends BulkCommandOptions {
  readonly node?: string;
  readonly input?: string;
  readonly output?: string;
  readonly definition?: string;
}

/** `stepfold bulk fork SUFFIX`. @returns the exit code */
export function bulkFork(suffix: string, options: BulkForkOptions): Promise<number> {
  const { node, input, output } = options;
  return overAll(options, async (config) => ({
    ...{ action: "fork", suffix, node },
    definition: await givenDefinition(options.definition, config),
    ...(input !== undefined && { input: await jsonArgument(input, "--input") }),
    ...(output !== undefined && { output: await jsonArgument(output, "--output") }),
  }));
}

/** Options of `stepfold bulk incidents`. */
export interface BulkIncidentsOptions extends BulkCommandOptions {
  readonly output?: string;
  readonly by?: string;
}

/** `stepfold bulk incidents retry|skip|fail`. @returns the exit code */
export function bulkIncidents(text: string, options: BulkIncidentsOptions): Promise<number> {
  const { output, by } = options;
  if (text !== "retry" && text !== "skip" && text !== "fail")
    throw new BadInput("USAGE", `The decision must be retry, skip or fail, not "${text}"`);
  if (output !== undefined && text !== "skip") throw new BadInput("USAGE", "--output is the output of a step that is skipped");
  return overAll(options, async () => ({
    action: "decide",
    decision: { action: text, ...(output !== undefined && { output: (await jsonArgument(output, "--output")) as Json }) },
    by,
  }));
}

/** Applies an action to all executions that the options select; without `--apply` it only prints what it would do. */
async function overAll(options: BulkCommandOptions, actionFor: (config: LoadedConfig) => Promise<BulkAction>): Promise<number> {
  const { all = false, apply = false, json = false } = options;
  // either filters or `--all` must be given, and not both
  if (wordsOf(options).length > 0 === all)
    throw new BadInput("USAGE", "Select executions with filters (--workflow, --status, --meta, ...), or give --all, but not both");
  checkFilter(options);
  const which = { dryRun: !apply, ...(options.limit !== undefined && { limit: readLimit(options.limit) }) };
  const configPath = findConfig(options.config);
  const config = await loadConfig(configPath);
  const action = await actionFor(config);
  const closing = cleanup();
  try {
    const store = await openExistingDatabase(chooseDatabase(options.store), openQuietly);
    closing.add(() => store.close());
    const queue = apply ? await openQueue(queueUrl(options.queue), config, configPath, closing) : null;
    const runtime = idleRuntime(store, config, queue);
    closing.add(() => runtime.close());
    const counts = { done: 0, planned: 0, unchanged: 0, refused: 0 };
    const paint = paintFor(process.stdout);
    for await (const outcome of runtime.bulk(action, { ...which, where: queryOf(options, await store.now()) })) {
      counts[outcome.outcome]++;
      say(json ? `${JSON.stringify({ type: "outcome", ...outcome })}\n` : `${outcomeLine(outcome, paint)}\n`);
    }
    say(json ? `${JSON.stringify({ type: "bulk", action: action.action, ...counts })}\n` : `${summary(counts, apply)}\n`);
    return apply && counts.refused > 0 ? exitCode.failed : exitCode.done;
  } finally {
    await closing.run();
  }
}

/** The sign and the colour of each outcome. */
const signs = { done: ["✔", "good"], planned: ["·", "quiet"], unchanged: ["=", "quiet"], refused: ["✖", "bad"] } as const;

function outcomeLine({ workflowId, status, outcome, error, plan, incidents = [] }: BulkOutcome, paint: Paint): string {
  const [sign, meaning] = signs[outcome];
  const named = (texts: readonly string[]): string => texts.map((text) => printable(text, maxLength)).join(", ");
  const told = [
    status as string,
    ...(plan ? [`${plan.workflowId === workflowId ? "goes on" : printable(plan.workflowId, 255)} at ${named(plan.nodes)}`] : []),
    ...(plan && plan.performsAgain.length > 0
      ? [`performs again: ${named([...new Set(plan.performsAgain.map(({ nodeId }) => nodeId))])}`]
      : []),
    ...(incidents.length > 0 ? [named(incidents)] : []),
    ...(outcome === "unchanged" ? ["was done before"] : []),
    ...(error ? [`${error.code}: ${printable(error.message, 2 * maxLength)}`] : []),
  ];
  return `${paint(meaning, sign)} ${printable(workflowId, 255)}  ${told.join("  ")}`;
}

function summary({ done, planned, unchanged, refused }: Readonly<Record<BulkOutcome["outcome"], number>>, isApplied: boolean): string {
  const others = [...(unchanged > 0 ? [`${unchanged} done before`] : []), ...(refused > 0 ? [`${refused} refused`] : [])];
  if (isApplied) return [`${done} done`, ...others].join(", ");
  const would = [`${planned} would be done`, ...others].join(", ");
  return planned > 0 ? `${would}. Nothing was changed: add --apply` : would;
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isSafeInteger(limit) && limit >= 1) return limit;
  throw new BadInput("USAGE", `--limit must be a whole number above 0, not "${text}"`);
}
