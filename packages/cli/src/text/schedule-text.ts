import type { EpochMs } from "stepfold";
import { agoText, countdownText, durationText } from "stepfold/core";
import type { ScheduleDescription } from "stepfold/runtime";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { type Cell, tableLines } from "./table.ts";

/** The most characters of a name, a rule or a message that are printed. */
const maxLength = 120;

/** Returns the lines of a table of schedules. */
export function scheduleTable(all: readonly ScheduleDescription[], now: EpochMs, paint: Paint, maxColumns?: number): string[] {
  if (all.length === 0) return ["No schedules"];
  const rows = all.map((one): Cell[] => [
    { text: one.name },
    { text: one.status, meaning: one.problems.length > 0 ? "bad" : one.status === "active" ? "good" : "quiet" },
    { text: printable(one.spec.workflow, maxLength) },
    { text: ruleText(one) },
    { text: one.nextTicks[0] === undefined ? "" : timeText(one.nextTicks[0], now) },
    { text: one.lastTick === null ? "" : timeText(one.lastTick, now) },
    { text: countsText(one) },
  ]);
  return tableLines(["name", "status", "workflow", "rule", "next", "last", "ticks"], rows, paint, maxColumns);
}

/** Returns the lines about one schedule. */
export function scheduleLines(one: ScheduleDescription, now: EpochMs, paint: Paint): string[] {
  const { name, workflowId, status, note, spec, generation, nextTicks, running, queued, problems } = one;
  const lines = [
    `${name} ${paint(status === "active" ? "good" : "quiet", status)}${note === undefined ? "" : `: ${printable(note, maxLength)}`}`,
    `  starts   ${printable(spec.workflow, maxLength)}, ${ruleText(one)}; overlap ${spec.overlap}`,
    `  is       ${workflowId}, generation ${generation}`,
    `  ticks    ${countsText(one)}`,
  ];
  if (nextTicks.length > 0)
    lines.push(
      `  next     ${nextTicks
        .slice(0, 3)
        .map((at) => timeText(at, now))
        .join(", ")}`,
    );
  if (running.length > 0) lines.push(`  running  ${running.slice(0, 5).join(", ")}`);
  if (queued.length > 0) lines.push(`  queued   ${queued.length}, the first of ${isoText(queued[0]!)}`);
  for (const { workflowId: id, code, message } of problems)
    lines.push(paint("bad", `  problem  ${id} ${code}: ${printable(message, maxLength)}`));
  return lines;
}

function ruleText({ spec: { cron, zone, every, at, offset } }: ScheduleDescription): string {
  if (cron !== undefined) return printable(`${[cron].flat().join(" and ")} ${zone}`, maxLength);
  if (at !== undefined) return `once at ${isoText(at as EpochMs)}`;
  return `every ${durationText(every as number)}${offset ? ` and ${durationText(offset as number)}` : ""}`;
}

function countsText({ counts: { started, skipped, missed } }: ScheduleDescription): string {
  const told = [`${started} started`, ...(skipped > 0 ? [`${skipped} skipped`] : []), ...(missed > 0 ? [`${missed} missed`] : [])];
  return told.join(", ");
}

function timeText(at: EpochMs, now: EpochMs): string {
  return `${isoText(at)} (${at < now ? agoText(now - at) : `in ${countdownText(at - now)}`})`;
}

function isoText(at: EpochMs): string {
  return new Date(at).toISOString().replace(".000Z", "Z");
}
