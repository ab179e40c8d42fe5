import type { EpochMs } from "stepfold";
import type { BackfillOptions, CreateScheduleOptions, Runtime, ScheduleDescription, ScheduleSpec } from "stepfold/runtime";
import { schedules } from "stepfold/schedules";
import { BadInput } from "../bad-input.ts";
import { cleanup } from "../cleanup.ts";
import { findConfig } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { openQueue, queueUrl } from "../config/open-queue.ts";
import { exitCode } from "../exit-code.ts";
import { jsonArgument } from "../json/json-argument.ts";
import { say } from "../output.ts";
import { idleRuntime } from "../session/idle-runtime.ts";
import { chooseDatabase, openExistingDatabase, openQuietly, type Store } from "../store/database.ts";
import { paintFor } from "../text/paint.ts";
import { scheduleLines, scheduleTable } from "../text/schedule-text.ts";

/** Options of every `stepfold schedule` command. */
export interface ScheduleCommandOptions {
  readonly store?: string;
  readonly queue?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** The options that describe a schedule. */
export interface ScheduleSpecOptions extends ScheduleCommandOptions {
  readonly workflow?: string;
  readonly cron?: readonly string[];
  readonly zone?: string;
  readonly every?: string;
  readonly offset?: string;
  readonly at?: string;
  readonly startAt?: string;
  readonly endAt?: string;
  readonly count?: string;
  readonly overlap?: string;
  readonly catchUpWindow?: string;
  readonly jitter?: string;
  readonly input?: string;
  readonly tenant?: string;
  readonly paused?: string | true;
  readonly remove?: readonly string[];
}

const pageSize = 100;

/** What a command does with schedules: one that only reads them runs no code of the user, so it does not read the config. */
type Access = "reads" | "changes";

/** `stepfold schedule ls`. @returns the exit code */
export function scheduleLs(options: ScheduleCommandOptions & { readonly ended?: boolean }): Promise<number> {
  return withSchedules("reads", options, async (all, store) => {
    const rows: ScheduleDescription[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await all.list({ ended: options.ended, limit: pageSize, cursor });
      if (options.json) for (const one of page.items) say(`${JSON.stringify({ type: "schedule", ...one })}\n`);
      else rows.push(...page.items);
      cursor = page.nextCursor;
    }
    if (!options.json) say(`${scheduleTable(rows, await store.now(), paintFor(process.stdout), process.stdout.columns).join("\n")}\n`);
  });
}

/** `stepfold schedule show NAME`. @returns the exit code */
export function scheduleShow(name: string, options: ScheduleCommandOptions): Promise<number> {
  return withSchedules("reads", options, async (all, store) => showSchedule(await all.describe(name), options, await store.now()));
}

/** `stepfold schedule add NAME WORKFLOW`. @returns the exit code */
export function scheduleAdd(name: string, workflow: string, options: ScheduleSpecOptions): Promise<number> {
  return withSchedules(
    "changes",
    options,
    async (all, store) => {
      const { tenant, paused } = options;
      const made: CreateScheduleOptions = { ...(tenant !== undefined && { tenant }), ...(paused !== undefined && { paused }) };
      showSchedule(await all.create(name, { ...(await specOf(options)), workflow }, made), options, await store.now());
    },
    openQuietly,
  );
}

/** `stepfold schedule edit NAME`. @returns the exit code */
export function scheduleEdit(name: string, options: ScheduleSpecOptions): Promise<number> {
  return withSchedules("changes", options, async (all, store) => {
    const { workflow, remove = [] } = options;
    const removed = Object.fromEntries(remove.flatMap((names) => names.split(",")).map((member) => [camelCase(member), undefined]));
    const changes: Partial<ScheduleSpec> = { ...(await specOf(options)), ...(workflow !== undefined && { workflow }), ...removed };
    if (Object.keys(changes).length === 0) throw new BadInput("USAGE", "Say what is to be changed, such as --cron, --every or --input");
    showSchedule(await all.edit(name, changes), options, await store.now());
  });
}

/** `stepfold schedule pause NAME`. @returns the exit code */
export function schedulePause(name: string, options: ScheduleCommandOptions & { readonly note?: string }): Promise<number> {
  return command(name, options, "is paused", (all) => all.pause(name, options.note));
}

/** `stepfold schedule resume NAME`. @returns the exit code */
export function scheduleResume(name: string, options: ScheduleCommandOptions): Promise<number> {
  return command(name, options, "goes on", (all) => all.resume(name));
}

/** `stepfold schedule rm NAME`. @returns the exit code */
export function scheduleRm(name: string, options: ScheduleCommandOptions): Promise<number> {
  return command(name, options, "is deleted; what it has started goes on", (all) => all.delete(name));
}

/** `stepfold schedule trigger NAME`. @returns the exit code */
export function scheduleTrigger(name: string, options: ScheduleCommandOptions & { readonly idempotencyKey?: string }): Promise<number> {
  return withSchedules("changes", options, async (all) => {
    const { workflowId } = await all.trigger(name, { idempotencyKey: options.idempotencyKey });
    done(options, `${workflowId} is started as soon as a worker takes it`, { type: "triggered", schedule: name, workflowId });
  });
}

/** `stepfold schedule backfill NAME`. @returns the exit code */
export function scheduleBackfill(
  name: string,
  options: ScheduleCommandOptions & { readonly from: string; readonly to: string; readonly overlap?: string },
): Promise<number> {
  const { from, to, overlap } = options;
  const asked = { from, to, ...(overlap !== undefined && { overlap }) } as BackfillOptions;
  return command(name, options, "starts these ticks as soon as a worker takes it", (all) => all.backfill(name, asked));
}

type AllSchedules = Runtime["schedules"];

function command(
  name: string,
  options: ScheduleCommandOptions,
  sentence: string,
  act: (all: AllSchedules) => Promise<void>,
): Promise<number> {
  return withSchedules("changes", options, async (all) => {
    await act(all);
    const description = await all.describe(name);
    done(options, `${name} ${sentence}`, { type: "schedule", ...description });
  });
}

/**
 * Calls `act` with the schedules of the store that the options name, and closes everything afterwards.
 *
 * @param open opens the database. Default: an SQLite file must exist already
 */
async function withSchedules(
  access: Access,
  options: ScheduleCommandOptions,
  act: (all: AllSchedules, store: Pick<Store, "now">) => Promise<void>,
  open: typeof openQuietly = (database, more) => openExistingDatabase(database, () => openQuietly(database, more)),
): Promise<number> {
  const configPath = access === "reads" ? null : findConfig(options.config);
  const config = await loadConfig(configPath);
  const closing = cleanup();
  try {
    const store = await open(chooseDatabase(options.store));
    closing.add(() => store.close());
    const queue = access === "reads" ? null : await openQueue(queueUrl(options.queue), config, configPath, closing);
    const runtime = idleRuntime(store, config, queue, schedules());
    closing.add(() => runtime.close());
    await act(runtime.schedules, store);
    return exitCode.done;
  } finally {
    await closing.run();
  }
}

async function specOf(options: ScheduleSpecOptions): Promise<Omit<ScheduleSpec, "workflow">> {
  const { cron, zone, every, offset, at, startAt, endAt, overlap, catchUpWindow, jitter } = options;
  const [count, input] = [options.count, options.input];
  // a `count` that is not a number is passed on as text: the check of the schedule refuses it
  const given = {
    ...{ cron, zone, every, offset, at, startAt, endAt, overlap, catchUpWindow, jitter },
    ...(count !== undefined && { count: /^\d+$/.test(count) ? Number(count) : count }),
    ...(input !== undefined && { input: await jsonArgument(input, "--input") }),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Omit<ScheduleSpec, "workflow">;
}

function camelCase(member: string): string {
  return member.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Prints a schedule. @param now the time by the clock of the database */
function showSchedule(description: ScheduleDescription, { json }: ScheduleCommandOptions, now: EpochMs): void {
  if (json) say(`${JSON.stringify({ type: "schedule", ...description })}\n`);
  else say(`${scheduleLines(description, now, paintFor(process.stdout)).join("\n")}\n`);
}

function done({ json }: ScheduleCommandOptions, sentence: string, told: object): void {
  say(json ? `${JSON.stringify(told)}\n` : `${paintFor(process.stdout)("good", "✔")} ${sentence}\n`);
}
