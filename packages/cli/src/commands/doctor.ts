import { randomUUID } from "node:crypto";
import type { TrimReport } from "stepfold";
import { durationText } from "stepfold/core";
import { feedHearsItself } from "stepfold/runtime";
import { BadInput } from "../bad-input.ts";
import { type Cleanup, cleanup } from "../cleanup.ts";
import type { LoadedConfig } from "../config/config.ts";
import { findConfig } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { openPart, type Parts } from "../config/open-part.ts";
import { openQueue } from "../config/open-queue.ts";
import { exitCode } from "../exit-code.ts";
import { complain, say } from "../output.ts";
import { chooseDatabase, type Database, openExistingDatabase, openQuietly, openSite } from "../store/database.ts";
import { examineExecutions, type OpenExecutions } from "../store/examine-executions.ts";
import { type ExaminedSchedules, examineSchedules } from "../store/examine-schedules.ts";
import type { Examination } from "../store/examine-store.ts";
import { type ExaminedWaits, examineWaits } from "../store/examine-waits.ts";
import { paintFor } from "../text/paint.ts";

/** Options of `stepfold doctor`. */
export interface DoctorOptions {
  readonly store?: string;
  readonly queue?: string;
  readonly config?: string;
  readonly quick?: boolean;
  readonly json?: boolean;
}

/** A smaller difference between two clocks is not reported. */
const noticeableMs = 2_000;

/** The most problems of schedules, and of waits, that are printed one by one. */
const maxFindings = 20;

/** Reports the result of one check, as text or as JSON (`told`). With `--json`, a check without `told` prints nothing. */
type Report = (isWell: boolean, text: string, told?: object) => void;

/**
 * `stepfold doctor`: checks whether the store answers and can be read, which executions are stuck and why, whether schedules could
 * start their ticks or wait for what does not run, whether (without `--quick`) others wait for what does not run, whether the queue (of `--queue`, or of the config that `--config` names) takes messages, whether the feed of that
 * config delivers its notices, and, without `--quick`, whether the store keeps every promise of the contract of stores. The promises are
 * tried in separate spaces (schemas, prefixes, files), which are deleted afterwards; executions are not changed.
 *
 * @returns the exit code: 0 if every check has passed
 */
export async function doctor(options: DoctorOptions): Promise<number> {
  const database = chooseDatabase(options.store);
  const paint = paintFor(process.stdout);
  let allWell = true;
  const tell: Report = (isWell, text, told) => {
    allWell &&= isWell;
    if (!options.json) say(`${isWell ? paint("good", "✔") : paint("bad", "✖")} ${text}\n`);
    else if (told) say(`${JSON.stringify(told)}\n`);
  };
  const store = await openExistingDatabase(database, openQuietly);
  try {
    await store.list({ limit: 1 });
    tell(true, `${database.name} answers, and can be read`);
    const now = await store.now();
    reportClock(now - Date.now(), tell);
    reportExecutions(await examineExecutions(store, now), tell);
    reportEarlierRuns((await store.trim({ before: now, dryRun: true })).left, tell);
    reportSchedules(await examineSchedules(store, now), tell);
    if (!options.quick) reportWaits(await examineWaits(store, now), tell);
  } finally {
    await store.close();
  }
  if (options.queue !== undefined || options.config !== undefined) await examineQueue(options, tell);
  if (options.config !== undefined) await examineFeed(options.config, tell);
  if (options.quick) tell(true, "left out with --quick: waits for other executions, and the promises of the store");
  else reportPromises(store.name, await examinePromises(database, options.json ?? false), tell);
  return allWell ? exitCode.done : exitCode.failed;
}

/** Reports a difference between the clocks of store and machine. Only the store's clock counts, but people compare logs. */
function reportClock(aheadMs: number, tell: Report): void {
  if (Math.abs(aheadMs) < noticeableMs) return;
  const difference = `${durationText(Math.abs(aheadMs))} ${aheadMs > 0 ? "ahead of" : "behind"} that of this machine`;
  tell(true, `its clock is ${difference}; timers and deadlines go by the store's`, { type: "clock", storeAheadMs: aheadMs });
}

function reportExecutions({ counts, findings, found, isPartial }: OpenExecutions, tell: Report): void {
  for (const { workflowId, sentence } of findings) tell(false, `${workflowId} ${sentence}`);
  if (found > findings.length) tell(false, `and ${found - findings.length} more`);
  const open = Object.entries(counts).filter(([, count]) => count > 0);
  const told = open.map(([status, count]) => `${count} ${status}`).join(", ");
  const text = `${open.length === 0 ? "no execution is open" : told}; ${found === 0 ? "none is" : found === 1 ? "1 is" : `${found} are`} stuck`;
  tell(found === 0, `${text}${isPartial ? " (only a part was examined)" : ""}`, {
    type: "executions",
    counts,
    found,
    findings,
    isPartial,
  });
}

/** Reports executions whose earlier runs cannot be trimmed. */
function reportEarlierRuns(left: TrimReport["left"], tell: Report): void {
  if (left.length === 0) return;
  const ids = left.map(({ workflowId }) => workflowId);
  const some = `${ids.slice(0, maxFindings).join(", ")}${ids.length > maxFindings ? " …" : ""}`;
  const text = `the events of earlier runs stay, because no checkpoint of the present run is stored, perhaps because it is too large: ${some}`;
  tell(true, text, { type: "earlierRuns", left: ids });
}

function reportSchedules({ count, findings, isPartial }: ExaminedSchedules, tell: Report): void {
  if (count === 0) return;
  for (const { schedule, sentence } of findings.slice(0, maxFindings)) tell(false, `schedule ${schedule} ${sentence}`);
  if (findings.length > maxFindings) tell(false, `and ${findings.length - maxFindings} more`);
  const problems = findings.filter(({ kind }) => kind === "problem").length;
  const states = [
    ...(problems > 0 ? ["some ticks could not be started; `stepfold schedule backfill` starts them"] : []),
    ...(problems < findings.length ? [`${findings.length - problems} wait for an execution that does not run`] : []),
  ];
  const text = `${count} schedule${count === 1 ? "" : "s"}; ${states.join("; ") || "all ticks were started"}`;
  tell(findings.length === 0, `${text}${isPartial ? " (only a part was examined)" : ""}`, {
    type: "schedules",
    count,
    findings,
    isPartial,
  });
}

function reportWaits({ count, findings, isPartial }: ExaminedWaits, tell: Report): void {
  if (count === 0) return;
  for (const { workflowId, sentence } of findings.slice(0, maxFindings)) tell(false, `${workflowId} ${sentence}`);
  if (findings.length > maxFindings) tell(false, `and ${findings.length - maxFindings} more`);
  const some = findings.length === 0 ? "all of these run" : `${findings.length} of these waits will not end`;
  const text = `${count} wait${count === 1 ? "s" : ""} for other executions; ${some}`;
  tell(findings.length === 0, `${text}${isPartial ? " (only a part was examined)" : ""}`, { type: "waits", count, findings, isPartial });
}

async function examineQueue({ queue: url, config }: DoctorOptions, tell: Report): Promise<void> {
  await examinePart("queue", config, tell, {
    open: (...where) => openQueue(url ?? null, ...where),
    none: "the config has no queue: workers ask the store",
    failed: "the queue does not take messages",
    async examine(queue) {
      // a worker that gets this message finds no such execution and ignores it
      await queue.send([{ workflowId: `stepfold-doctor-${randomUUID()}` }]);
      tell(true, `${queue.name} takes messages`, { type: "queue", name: queue.name });
    },
  });
}

/** Checks whether a feed delivers its own notices. Without them nothing fails, but processes see changes only at their next poll. */
async function examineFeed(named: string, tell: Report): Promise<void> {
  await examinePart("feed", named, tell, {
    open: (...where) => openPart("feed", ...where),
    none: "the config has no feed: what other processes do is seen by polls",
    failed: "the feed cannot be heard",
    async examine(feed) {
      const isHeard = await feedHearsItself(feed);
      const text = isHeard
        ? `${feed.name} feed hears its own notices`
        : `the ${feed.name} feed does not deliver a process its own notices, perhaps because of a connection pooler; processes poll`;
      tell(isHeard, text, { type: "feed", name: feed.name, isHeard });
    },
  });
}

/** How one part of a config is examined. */
interface PartExamination<P extends keyof Parts> {
  open(config: LoadedConfig, configPath: string | null, closing: Cleanup): Promise<Parts[P] | null>;
  /** The text if the config has no such part. */
  readonly none: string;
  /** The text if the part does not work; the message of the error follows it. */
  readonly failed: string;
  examine(part: Parts[P]): Promise<void>;
}

async function examinePart<P extends keyof Parts>(
  type: P,
  named: string | undefined,
  tell: Report,
  { open, none, failed, examine }: PartExamination<P>,
): Promise<void> {
  const configPath = named === undefined ? null : findConfig(named);
  const closing = cleanup();
  try {
    const part = await open(await loadConfig(configPath), configPath, closing);
    if (part) await examine(part);
    else tell(true, none, { type, name: null });
  } catch (error) {
    if (error instanceof BadInput) throw error;
    const message = error instanceof Error ? error.message : String(error);
    tell(false, `${failed}: ${message}`, { type, message });
  } finally {
    await closing.run();
  }
}

async function examinePromises(database: Database, isSilent: boolean): Promise<Examination> {
  const site = await openSite(database);
  try {
    if (!site.hasSpaces)
      throw new BadInput("USAGE", `The contract cannot be tried beside the executions in ${database.name}: it has no schemas or prefixes`, {
        hint: "Give a database of its own with --store, or only look with --quick",
      });
    // imported only here, because no other command needs the contract of stores
    const { examine, promises, spacePrefix } = await import("../store/examine-store.ts");
    // a person at a terminal is told, because the trial takes half a minute, on some stores longer
    if (!isSilent && process.stderr.isTTY)
      complain(`Trying ${promises} promises in spaces named ${spacePrefix}…, which are deleted again\n`);
    return await examine(site);
  } finally {
    await site.close();
  }
}

function reportPromises(store: string, { untried, ...counted }: Examination, tell: Report): void {
  const { passed, failed, notClaimed } = counted;
  for (const { name, message } of failed) tell(false, `${name}\n  ${message}`);
  const why = untried.length > 0 ? ` (${untried.join(", ")})` : "";
  const text = `${store}: ${passed} passed, ${failed.length} failed, ${notClaimed} not tried${why}`;
  tell(failed.length === 0, text, { type: "examination", store, ...counted });
}
