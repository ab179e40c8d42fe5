import type { Command } from "commander";
import {
  scheduleAdd,
  scheduleBackfill,
  scheduleEdit,
  scheduleLs,
  schedulePause,
  scheduleResume,
  scheduleRm,
  scheduleShow,
  scheduleTrigger,
} from "../commands/schedule.ts";
import { type Act, options } from "./program-options.ts";

/** Adds the commands for schedules. */
export function addScheduleCommands(stepfold: Command, act: Act): void {
  const schedule = stepfold.command("schedule").description("workflows that are started at certain times; a worker starts them");
  const reading = (name: string, about: string, more: { readonly isDefault?: boolean } = {}): Command =>
    schedule
      .command(name, more)
      .description(about)
      .option(...options.store)
      .option(...options.json);
  const verb = (name: string, about: string): Command =>
    reading(name, about)
      .option(...options.queue)
      .option(...options.config);
  reading("ls", "list them, with their next ticks", { isDefault: true })
    .option("--ended", "also those that have ended")
    .action(act(scheduleLs));
  reading("show <name>", "show a schedule: its rule, running executions, next ticks and problems").action(act(scheduleShow));
  saying(verb("add <name> <workflow>", "make a schedule that starts this workflow"))
    .option("--tenant <tenant>", "whose schedule it is")
    .option("--paused [note]", "begin paused")
    .action(act(scheduleAdd));
  saying(verb("edit <name>", "change what it says, for the ticks after this"))
    .option("--workflow <id>", "the workflow to start")
    .option("--remove <members...>", "remove these settings: end-at, jitter, input, …")
    .action(act(scheduleEdit));
  verb("pause <name>", "start no tick from now on").option("--note <text>", "why").action(act(schedulePause));
  verb("resume <name>", "start ticks again; those of the pause are not made up for").action(act(scheduleResume));
  verb("trigger <name>", "start one execution at once")
    .option("--idempotency-key <key>", "calls with the same key start one execution")
    .action(act(scheduleTrigger));
  verb("backfill <name>", "start past ticks of the rule; what was started before is not started again")
    .requiredOption("--from <time>", "the first one: 2026-11-22T02:00:00Z, or a date")
    .requiredOption("--to <time>", "the last one")
    .option("--overlap <policy>", "queue (default): one after the other; allow: all at once")
    .action(act(scheduleBackfill));
  verb("rm <name>", "end it; what it has started goes on").action(act(scheduleRm));
}

/** Adds the options that describe a schedule. */
function saying(verb: Command): Command {
  return verb
    .option("--cron <expressions...>", "minute hour day month weekday, in quotes: '0 2 * * *'")
    .option("--zone <zone>", "time zone of --cron, and of times without an offset: Europe/Vienna (default: UTC)")
    .option("--every <duration>", "instead: an interval, 15m or 1d")
    .option("--offset <duration>", "with --every: shifts each tick by this duration")
    .option("--at <time>", "instead: once, 2026-12-24T18:00:00Z, or 2026-12-24T18:00 with --zone")
    .option("--start-at <time>", "no tick before")
    .option("--end-at <time>", "no tick after")
    .option("--count <starts>", "end after this many starts")
    .option("--overlap <policy>", "while an earlier execution runs: skip (default), queue, cancel, allow")
    .option("--catch-up-window <duration>", "how late a tick is started if no worker ran (default: 1d)")
    .option("--jitter <duration>", "begin each tick later by a part of this")
    .option("--input <json|@file|->", "input of each execution (default: the name and the time)");
}
