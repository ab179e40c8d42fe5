const months = "January February March April May June July August September October November December".split(" ");
const days = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const two = (value: number): string => String(value).padStart(2, "0");
/** The hour on a clock of 12 hours. */
const half = (date: Date): number => date.getUTCHours() % 12 || 12;

/** The text for each group of letters in a format, as in Luxon. Names of months and days are English. */
const letters: Readonly<Record<string, (date: Date) => string>> = {
  yyyy: (date) => String(date.getUTCFullYear()).padStart(4, "0"),
  yy: (date) => two(Math.abs(date.getUTCFullYear() % 100)),
  y: (date) => String(date.getUTCFullYear()),
  MMMM: (date) => months[date.getUTCMonth()]!,
  LLLL: (date) => months[date.getUTCMonth()]!,
  MMM: (date) => months[date.getUTCMonth()]!.slice(0, 3),
  LLL: (date) => months[date.getUTCMonth()]!.slice(0, 3),
  MM: (date) => two(date.getUTCMonth() + 1),
  LL: (date) => two(date.getUTCMonth() + 1),
  M: (date) => String(date.getUTCMonth() + 1),
  L: (date) => String(date.getUTCMonth() + 1),
  dd: (date) => two(date.getUTCDate()),
  d: (date) => String(date.getUTCDate()),
  EEEE: (date) => days[date.getUTCDay()]!,
  cccc: (date) => days[date.getUTCDay()]!,
  EEE: (date) => days[date.getUTCDay()]!.slice(0, 3),
  ccc: (date) => days[date.getUTCDay()]!.slice(0, 3),
  E: (date) => String(date.getUTCDay() || 7),
  HH: (date) => two(date.getUTCHours()),
  H: (date) => String(date.getUTCHours()),
  hh: (date) => two(half(date)),
  h: (date) => String(half(date)),
  mm: (date) => two(date.getUTCMinutes()),
  m: (date) => String(date.getUTCMinutes()),
  ss: (date) => two(date.getUTCSeconds()),
  s: (date) => String(date.getUTCSeconds()),
  SSS: (date) => String(date.getUTCMilliseconds()).padStart(3, "0"),
  a: (date) => (date.getUTCHours() < 12 ? "AM" : "PM"),
  q: (date) => String(Math.floor(date.getUTCMonth() / 3) + 1),
  x: (date) => String(date.getTime()),
  X: (date) => String(Math.floor(date.getTime() / 1000)),
  ZZ: () => "+00:00",
  Z: () => "+0",
};

/** Formats a time. Text in single quotes stands for itself, and so do letters without a meaning. */
export function formatTime(date: Date, format: string): string {
  return format.replace(/'([^']*)'|([A-Za-z])\2*/g, (piece, quoted: string | undefined) => quoted ?? letters[piece]?.(date) ?? piece);
}
