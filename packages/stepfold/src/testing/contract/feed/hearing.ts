import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EventFeed, FeedSubscription, Notice } from "../../../ports/event-feed.ts";
import { ContractViolation } from "../../expectations.ts";
import type { FeedBench } from "./feed-contract-case.ts";

/** A listener, and what it has heard. */
export interface Hearing extends FeedSubscription {
  /** In the order in which they came; without tests that the cases send themselves. */
  readonly heard: Notice[];
  /** Every kind of notice, by its workflow id. */
  ids(): string[];
}

/** Begins to listen. */
export async function hearFeed(feed: EventFeed): Promise<Hearing> {
  const heard: Notice[] = [];
  const onEnd = (error: unknown): void => {
    throw new StepfoldError("FEED_UNAVAILABLE", { feed: feed.name, reason: `it ended by itself: ${String(error)}` });
  };
  const listener = await feed.listen((notices) => heard.push(...notices), { onEnd });
  return { heard, ids: () => heard.map(({ workflowId }) => workflowId), close: () => listener.close() };
}

/** A notice as a case sends it. */
export function newNotice(workflowId: string, kind: Notice["kind"] = "due", version = 1): Notice {
  return { kind, workflowId, version };
}

/** Waits until a condition is true; fails if it is not in time. */
export async function heardInTime({ patienceMs }: FeedBench, isSo: () => boolean, what: string): Promise<void> {
  const stepMs = 5;
  for (let passedMs = 0; !isSo(); passedMs += stepMs) {
    if (passedMs > patienceMs) throw new ContractViolation(`${what}: not within ${patienceMs} ms`);
    await pause(stepMs);
  }
}

/** Time in which what must not be heard would come. */
export async function quietTime({ patienceMs }: FeedBench): Promise<void> {
  await pause(Math.min(patienceMs, 100));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
