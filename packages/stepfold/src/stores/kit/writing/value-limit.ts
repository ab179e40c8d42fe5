import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Json } from "../../../core/values/json.ts";
import { pointerOf } from "../../../core/values/pointer.ts";
import type { WrittenCommit } from "./written-commit.ts";

const encoder = new TextEncoder();

/** Returns the size of a text in UTF-8, in bytes. */
export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/**
 * Refuses a commit before it is sent if the store cannot hold one of its parts. Nothing is written.
 *
 * @param store the name of the store; the error names the limit as `<store> value in bytes`
 * @param maxBytes the largest size of one part: the head, one event, one child
 * @throws StepfoldError `LIMIT_EXCEEDED` with the part, both sizes in bytes, and a JSON pointer to the largest value in it
 */
export function refuseOversize(store: string, maxBytes: number, { workflowId, head, events, children }: WrittenCommit): void {
  const refuse = (what: string, text: string): void => refuseLarge(store, maxBytes, `${what} of execution "${workflowId}"`, text);
  refuse("The head", head);
  for (const { version, text } of events) refuse(`Event ${version}`, text);
  for (const { key, text } of children) if (text !== null) refuse(`Child "${key}"`, text);
}

/** Refuses a JSON text that a store cannot hold; see `refuseOversize`. @param what the name of the text, for the error */
export function refuseLarge(store: string, maxBytes: number, what: string, text: string): void {
  // fast path: UTF-8 needs at most three bytes for each UTF-16 code unit
  if (text.length * 3 <= maxBytes) return;
  const actual = bytesOf(text);
  if (actual <= maxBytes) return;
  const pointer = pointerToLargest(JSON.parse(text) as Json);
  throw new StepfoldError("LIMIT_EXCEEDED", {
    what,
    limit: `${store} value in bytes`,
    max: maxBytes,
    actual,
    ...(pointer !== "" && { pointer }),
  });
}

/** Returns a JSON pointer to the largest value: descends into the largest member while it is at least half of the whole. */
function pointerToLargest(value: Json): string {
  let pointer = "";
  for (let current = value; typeof current === "object" && current !== null; ) {
    const sizes = Object.entries(current).map(([key, member]) => ({ key, member, size: JSON.stringify(member).length }));
    const whole = sizes.reduce((sum, { size }) => sum + size, 0);
    const largest = sizes.reduce((most, one) => (one.size > most.size ? one : most), { key: "", member: null as Json, size: 0 });
    if (largest.size * 2 < whole) break;
    pointer += pointerOf([largest.key]);
    current = largest.member;
  }
  return pointer;
}
