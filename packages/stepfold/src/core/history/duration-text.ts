const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** How long something took: `12 ms`, `1.4 s`, `3 min 20 s`. */
export function durationText(ms: number): string {
  return ms < secondMs ? `${Math.max(0, Math.round(ms))} ms` : countdownText(ms);
}

/** How long there is to wait: `0.4 s`, `12 s`, `3 min 20 s`, `2 d 4 h`. */
export function countdownText(ms: number): string {
  const left = Math.max(0, ms);
  // from 9.95 s on, one decimal would give "10.0 s"; from 59.5 s on, rounding would give "60 s"
  if (left < 9_950) return `${(left / secondMs).toFixed(1)} s`;
  if (left < minuteMs - 500) return `${Math.round(left / secondMs)} s`;
  if (left < hourMs) return two(left, minuteMs, "min", secondMs, "s");
  if (left < dayMs) return two(left, hourMs, "h", minuteMs, "min");
  return two(left, dayMs, "d", hourMs, "h");
}

/** How long ago: `just now`, `12 s ago`. */
export function agoText(ms: number): string {
  return ms < secondMs ? "just now" : `${countdownText(Math.floor(ms / secondMs) * secondMs).replace(".0 s", " s")} ago`;
}

function two(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rounded = Math.round(ms / small) * small;
  const rest = Math.floor((rounded % large) / small);
  return `${Math.floor(rounded / large)} ${largeName}${rest ? ` ${rest} ${smallName}` : ""}`;
}
