import type { EpochMs } from "stepfold";
import { agoText, countdownText } from "stepfold/core";
import { printable } from "./printable.ts";

const timestamp = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const maxLength = 600;

/** Adds to each time in a sentence how far away it is: `2026-01-31T09:00:00Z (in 3 h)`. */
export function timestampsText(sentence: string, now: EpochMs): string {
  return printable(sentence, maxLength).replace(timestamp, (text) => {
    const left = Date.parse(text) - now;
    return `${text.replace(/\.\d+/, "")} (${left < 0 ? agoText(-left) : `in ${countdownText(left)}`})`;
  });
}
