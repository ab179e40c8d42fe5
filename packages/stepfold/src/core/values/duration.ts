import { StepfoldError } from "../errors/stepfold-error.ts";

/** Milliseconds, or text such as `"90s"`, `"1h30m"`, `"2 days"`, `"PT5M"`. */
export type Duration = number | string;

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
};
const isoUnits = ["W", "D", "H", "M", "S"] as const;
const isoUnitMs = { W: 604_800_000, D: 86_400_000, H: 3_600_000, M: 60_000, S: 1_000 } as const;

/**
 * Returns a duration in whole milliseconds. A number is milliseconds already; text is `"250"`, `"90s"`, `"1h30m"`, `"2 days"`
 * or ISO 8601 (`"PT5M"`, `"P1DT12H"`; months and years have no fixed length and are refused).
 *
 * @throws StepfoldError `DURATION_INVALID` for anything else, also for a negative or infinite number
 *
 * ```ts
 * durationMs("1h30m"); // 5400000
 * ```
 */
export function durationMs(duration: Duration): number {
  const ms = typeof duration === "number" ? duration : typeof duration === "string" ? parse(duration.trim()) : Number.NaN;
  if (!Number.isFinite(ms) || ms < 0) throw new StepfoldError("DURATION_INVALID", { text: String(duration).slice(0, 100) });
  return Math.round(ms);
}

function parse(text: string): number {
  if (text === "" || text.length > 100) return Number.NaN;
  if (text.startsWith("P")) return parseIso(text);
  const plain = /^\d+(?:\.\d+)?$/.exec(text);
  if (plain) return Number(text);
  let total = 0;
  let end = 0;
  for (const part of text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*/gi)) {
    const name = part[2]!.toLowerCase();
    const unit = unitOf(name);
    if (part.index !== end || unit === undefined) return Number.NaN;
    total += Number(part[1]) * unit;
    end += part[0].length;
  }
  return end === text.length ? total : Number.NaN;
}

function unitOf(name: string): number | undefined {
  if (Object.hasOwn(unitMs, name)) return unitMs[name];
  const singular = name.endsWith("s") ? name.slice(0, -1) : name;
  // only words have a plural: `mins` and `hours`, but not `hs`
  return singular.length > 2 && Object.hasOwn(unitMs, singular) ? unitMs[singular] : undefined;
}

function parseIso(text: string): number {
  const parts = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!parts || text === "P" || text.endsWith("T")) return Number.NaN;
  return isoUnits.reduce((total, unit, i) => total + Number(parts[i + 1] ?? 0) * isoUnitMs[unit], 0);
}
