import type { RestartOptions } from "stepfold/runtime";
import { BadInput } from "../bad-input.ts";

/** What `--compensated` says. @throws BadInput */
export function readCompensated(text: string | undefined): RestartOptions["compensated"] {
  if (text === undefined || text === "again" || text === "keep") return text;
  throw new BadInput("USAGE", `--compensated must be again or keep, not "${text}"`);
}
