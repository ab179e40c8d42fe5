/** Milliseconds since 1970. */
type Time = number;

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

/** So far the clock of a page may be behind: by the way of the news, and by the time since it was drawn. */
const behindMs = 250;

/** A duration in its two largest units: `38 ms`, `11.2 s`, `2 m 10 s`, `3 h 3 m`, `4 d 7 h`. */
export function durationText(ms: number): string {
  const rest = Math.max(0, ms);
  if (rest < second) return `${Math.round(rest)} ms`;
  if (rest < minute - 50) return `${(rest / second).toFixed(1)} s`;
  if (rest < hour) return twoUnits(Math.max(rest, minute), minute, "m", second, "s");
  return rest < day ? twoUnits(rest, hour, "h", minute, "m") : twoUnits(rest, day, "d", hour, "h");
}

/** How long ago something is, in its largest unit: `12 s`, `10 m`, `3 h`, `5 d`. What is still to come is `0 s`. */
export function ageText(ms: number): string {
  const rest = Math.max(0, ms);
  if (rest < minute) return `${Math.floor(rest / second)} s`;
  if (rest < hour) return `${Math.floor(rest / minute)} m`;
  return rest < 2 * day ? `${Math.floor(rest / hour)} h` : `${Math.floor(rest / day)} d`;
}

/** The time that is left, as a clock that runs down: `0:04`, `1:57:30`; from two days on `5 d 2 h`. */
export function countdownText(ms: number): string {
  if (ms >= 2 * day) return twoUnits(ms, day, "d", hour, "h");
  // a clock that is a moment behind does not show a second more than there was at the beginning
  const seconds = Math.max(0, Math.ceil((ms - behindMs) / second));
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${twoDigits(m)}:${twoDigits(s)}` : `${m}:${twoDigits(s)}`;
}

/** A time of the local day: `10:02:31`. */
export function clockText(at: Time): string {
  const time = new Date(at);
  if (!isTime(time)) return String(at);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join(":");
}

/** A local day: `22 Nov`; with the year if it is not that of `now`: `22 Nov 2025`. */
export function dayText(at: Time, now: Time): string {
  const time = new Date(at);
  if (!isTime(time)) return String(at);
  const text = `${time.getDate()} ${months[time.getMonth()]}`;
  return time.getFullYear() === new Date(now).getFullYear() ? text : `${text} ${time.getFullYear()}`;
}

/** A local time, as short as it can be: the clock today, otherwise day and minute: `22 Nov, 10:02`. */
export function timeText(at: Time, now: Time): string {
  if (!isTime(new Date(at))) return String(at);
  return isSameDay(at, now) ? clockText(at) : `${dayText(at, now)}, ${clockText(at).slice(0, 5)}`;
}

/** The instant as ISO 8601 in UTC, for tooltips and copies; empty if it is no time. */
export function isoText(at: Time): string {
  const time = new Date(at);
  return isTime(time) ? time.toISOString() : "";
}

function isTime(time: Date): boolean {
  return !Number.isNaN(time.getTime());
}

function isSameDay(one: Time, other: Time): boolean {
  return new Date(one).toDateString() === new Date(other).toDateString();
}

function twoUnits(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeUnit}${rest > 0 ? ` ${rest} ${smallUnit}` : ""}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
