import type { ReactNode } from "react";
import { useNow } from "./now.tsx";
import { ageText, clockText, countdownText, isoText, timeText } from "./time-text.ts";

/** How long ago a time is, in its largest unit: `12 s`. */
export function Age({ since }: { readonly since: number }): ReactNode {
  const now = useNow();
  return (
    <time dateTime={isoText(since)} data-tip={isoText(since)}>
      {ageText(now - since)}
    </time>
  );
}

/** The time that is left until then: `1:57:30`. */
export function Countdown({ until }: { readonly until: number }): ReactNode {
  const now = useNow();
  return (
    <time dateTime={isoText(until)} data-tip={isoText(until)}>
      {countdownText(until - now)}
    </time>
  );
}

/** A local time of a day that is clear: `10:02:31`. */
export function ClockTime({ at }: { readonly at: number }): ReactNode {
  return (
    <time dateTime={isoText(at)} data-tip={isoText(at)}>
      {clockText(at)}
    </time>
  );
}

/** A local time: the clock today, otherwise day and minute. */
export function ShortTime({ at }: { readonly at: number }): ReactNode {
  const now = useNow();
  return (
    <time dateTime={isoText(at)} data-tip={isoText(at)}>
      {timeText(at, now)}
    </time>
  );
}
