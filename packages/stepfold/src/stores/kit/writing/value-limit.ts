import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Json } from "../../../core/values/json.ts";
import type { WrittenCommit } from "./written-commit.ts";

const encoder = new TextEncoder();

/** The size of a text in UTF-8. */
export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/**
 * Refuses a commit before it is sent if the store cannot hold one of its parts. Nothing is written.
 *
 * @param store name of the store; the limit is told as `<store> value`
 * @param maxBytes of one part: the head, one event, one child
 * @throws StepfoldError `LIMIT_EXCEEDED` with the part, both sizes in bytes, and a JSON pointer to the largest value in it
 */
export function refuseOversize(store: string, maxBytes: number, { workflowId, head, events, children }: WrittenCommit): void {
  const refuse = (what: string, text: string): void => refuseLarge(store, maxBytes, `${what} of execution "${workflowId}"`, text);
  refuse("The head", head);
  for (const { version, text } of events) refuse(`Event ${version}`, text);
  for (const { key, text } of children) if (text !== null) refuse(`Child "${key}"`, text);
}

/** Refuses a text of JSON that a store cannot hold; see `refuseOversize`. @param what it is, for people */
export function refuseLarge(store: string, maxBytes: number, what: string, text: string): void {
  // no character takes more than three bytes for each of its code units
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

/** Goes down into the largest member as long as it is most of the whole. */
function pointerToLargest(value: Json): string {
  let pointer = "";
  for (let current = value; typeof current === "object" && current !== null; ) {
    const sizes = Object.entries(current).map(([key, member]) => ({ key, member, size: JSON.stringify(member).length }));
    const whole = sizes.reduce((sum, { size }) => sum + size, 0);
    const largest = sizes.reduce((most, one) => (one.size > most.size ? one : most), { key: "", member: null as Json, size: 0 });
    if (largest.size * 2 < whole) break;
    pointer += `/${largest.key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    current = largest.member;
  }
  return pointer;
}
