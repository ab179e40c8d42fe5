import { Cron, CronPattern } from "croner";
import { errorInfo } from "../core/errors/error-info.ts";
import type { EpochMs } from "../core/values/json.ts";
import { type ZoneClock, zoneClock } from "./zone-clock.ts";

/**
 * The form of a cron expression: fields, or a name such as `@daily`. croner also takes a date; that is refused, because `at` is for that.
 */
const cronForm = /^(?:@[a-z]{1,12}|[A-Za-z0-9*,/\-#?+]{1,60}(?: [A-Za-z0-9*,/\-#?+]{1,60}){4,6})$/;
const maxCronLength = 200;
/** The time with which expressions are tried out. */
const trial = Date.UTC(2026, 0, 1);

/** Returns what is wrong with a cron expression; null if nothing is. */
export function cronMistake(cron: string): string | null {
  if (cron.length > maxCronLength || !cronForm.test(cron))
    return "must have 5 to 7 fields: minute hour day month weekday, seconds before them and the year after them";
  try {
    ruleOf(cron).next(trial);
    return null;
  } catch (error) {
    return errorInfo(error).message.replace(/^CronPattern: /, "");
  }
}

/** A parsed expression. It knows no zones: what clocks show is given as the moment at which UTC shows the same. */
interface CronRule {
  /** Returns the next time that fits the expression; null if there is none. */
  next(shown: EpochMs): EpochMs | null;
  /** The expression names every hour, every minute or every second, in whatever way it is written. */
  readonly isEvery: boolean;
}

/** The most parsed expressions that are kept. */
const maxRules = 200;
/** Parsed expressions, the least recently used first. They are kept because parsing one takes as long as computing many ticks. */
const rules = new Map<string, CronRule>();

function ruleOf(cron: string): CronRule {
  const rule = rules.get(cron) ?? parse(cron);
  rules.delete(cron);
  rules.set(cron, rule);
  if (rules.size > maxRules) rules.delete(rules.keys().next().value!);
  return rule;
}

function parse(cron: string): CronRule {
  const parsed = new Cron(cron, { utcOffset: 0, paused: true });
  const { second, minute, hour } = new CronPattern(cron);
  return {
    next: (shown) => parsed.nextRun(new Date(shown))?.getTime() ?? null,
    isEvery: [second, minute, hour].some((values) => values.every((isIn) => isIn)),
  };
}

/**
 * Returns the next tick of a cron expression after a time; null if there is none.
 *
 * An expression of certain hours, minutes and seconds ticks once for each time that fits it: where the clocks show that time twice, at the
 * first of the two, and where they leave it out, at their change. An expression that names every hour, minute or second ticks whenever the
 * clocks show a time that fits it.
 */
export function nextCronTick(cron: string, zone: string, after: EpochMs): EpochMs | null {
  const rule = ruleOf(cron);
  const clock = zoneClock(zone);
  const shown = rule.next(clock.latestShownBy(after));
  if (!rule.isEvery) return shown === null ? null : clock.firstAt(shown);
  const [first, again] = [firstShown(rule, clock, shown), shownAgain(rule, clock, after)];
  return first === null || (again !== null && again < first) ? again : first;
}

/** Returns when the clocks first show a time that fits the rule, from the given one on, which fits it too. */
function firstShown(rule: CronRule, clock: ZoneClock, fitting: EpochMs | null): EpochMs | null {
  for (let shown = fitting; shown !== null; ) {
    const at = clock.firstAt(shown);
    const actual = at + clock.offsetAt(at);
    if (actual === shown) return at;
    // the clocks leave this time out
    shown = rule.next(actual - 1);
  }
  return null;
}

/** Returns the next tick after a time at which clocks that were put back show a time for the second time; null if there is none near. */
function shownAgain(rule: CronRule, clock: ZoneClock, after: EpochMs): EpochMs | null {
  const change = clock.changeNear(after);
  if (!change) return null;
  const shown = rule.next(Math.max(after, change.at - 1) + change.after);
  return shown !== null && shown < change.at + change.before ? shown - change.after : null;
}
