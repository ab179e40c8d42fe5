import type { RestartOptions } from "stepfold/runtime";
import { BadInput } from "../bad-input.ts";

/** Reads the option `--compensated`. @throws BadInput */
export function readCompensated(text: string | undefined): RestartOptions["compensated"] {
  if (text === undefined || text === "again" || text === "keep") return text;
  throw new BadInput("USAGE", `--compensated must be again or keep, not "${text}"`);
}
