import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EventFeed, FeedSubscription, Notice } from "../../../ports/event-feed.ts";
import { ContractViolation } from "../../expectations.ts";
import type { FeedBench } from "./feed-contract-case.ts";

/** A listener, and the notices that it has heard. */
export interface Hearing extends FeedSubscription {
  /** The notices in the order in which they came. */
  readonly heard: Notice[];
  /** The workflow ids of all notices, of every kind. */
  ids(): string[];
}

/** Begins to listen, and returns the listener. */
export async function hearFeed(feed: EventFeed): Promise<Hearing> {
  const heard: Notice[] = [];
  const onEnd = (error: unknown): void => {
    throw new StepfoldError("FEED_UNAVAILABLE", { feed: feed.name, reason: `it ended by itself: ${String(error)}` });
  };
  const listener = await feed.listen((notices) => heard.push(...notices), { onEnd });
  return { heard, ids: () => heard.map(({ workflowId }) => workflowId), close: () => listener.close() };
}

/** Makes a notice. */
export function newNotice(workflowId: string, kind: Notice["kind"] = "due", version = 1): Notice {
  return { kind, workflowId, version };
}

/** Waits until a condition is true. Fails if it is not true within `patienceMs`. */
export async function heardInTime({ patienceMs }: FeedBench, isSo: () => boolean, what: string): Promise<void> {
  const stepMs = 5;
  for (let passedMs = 0; !isSo(); passedMs += stepMs) {
    if (passedMs > patienceMs) throw new ContractViolation(`${what}: not within ${patienceMs} ms`);
    await pause(stepMs);
  }
}

/** Waits for `patienceMs`, but at most 100 ms, so that a notice that must not come has time to come. */
export async function quietTime({ patienceMs }: FeedBench): Promise<void> {
  await pause(Math.min(patienceMs, 100));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
