import { durationMs } from "stepfold";
import { BadInput } from "../bad-input.ts";

/**
 * Reads a duration of the command line, in milliseconds. A number without a unit is refused, because `30` may be meant as days.
 *
 * @param meaning what the option means, with examples: `how long ago, such as 30d, 12h or P30D`
 * @throws BadInput `USAGE`
 */
export function readDuration(option: string, text: string, meaning: string): number {
  if (/^\s*\d+(\.\d+)?\s*$/.test(text)) {
    const hint = `For milliseconds: ${option} ${text.trim()}ms; for days: ${option} ${text.trim()}d`;
    throw new BadInput("USAGE", `${option} "${text}" has no unit: it must be ${meaning}`, { hint });
  }
  try {
    return durationMs(text);
  } catch {
    throw new BadInput("USAGE", `${option} must be ${meaning}, not "${text}"`);
  }
}
