import type { Principal } from "../guard/principal.ts";

/** How much of an execution a caller sees. */
export interface Audience {
  /** Inputs, outputs, payloads and messages. */
  readonly values: boolean;
  /** Payloads of waits, for those who answer. */
  readonly payloads: boolean;
}

/** The audiences, so that what was made for one caller serves all who see as much. */
const audiences: readonly Audience[] = [
  { values: false, payloads: false },
  { values: false, payloads: true },
  { values: true, payloads: true },
];

/** Returns how much a caller sees. */
export function audienceOf({ scopes }: Principal): Audience {
  if (scopes.includes("values")) return audiences[2]!;
  return scopes.includes("answer") ? audiences[1]! : audiences[0]!;
}
