import { durationMs } from "stepfold";
import { BadInput } from "../bad-input.ts";

/**
 * Milliseconds of a duration on the command line. A number alone is refused: who writes `30` may mean days.
 *
 * @param meaning what the option says, with examples: `how long ago, such as 30d, 12h or P30D`
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
