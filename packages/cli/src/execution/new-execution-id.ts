import { randomBytes } from "node:crypto";

// no vowels, so that no words appear, and no letters that look like digits
const letters = "23456789bcdfghjkmnpqrstvwxz";

/** A short id that a person can type: `order-flow-k7f3q2wz`. */
export function newExecutionId(workflow: string): string {
  // at most 129 characters: the id of an execution may have 255
  return `${workflow.slice(0, 120)}-${[...randomBytes(8)].map((byte) => letters[byte % letters.length]).join("")}`;
}
