import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { awaitAnswer } from "../../environment/await-answer.ts";
import { Deadlines, systemEnvironment } from "../../environment/system-environment.ts";
import type { EventFeed, Notice } from "../../ports/event-feed.ts";

/** How a feed is tested. */
export interface FeedTest {
  readonly feed: EventFeed;
  /** Names the notice. */
  readonly id: string;
  /** Hears what comes over the feed; returns the function that ends that. */
  readonly listening: (hear: (notice: Notice) => void) => () => void;
  readonly deadlines: Deadlines;
  readonly timeoutMs: number;
}

/**
 * Sends a notice to itself.
 *
 * @returns false if it was not heard in time: somebody between keeps notices back
 * @throws what the feed rejects with
 */
export async function testFeed({ feed, id, listening, deadlines, timeoutMs }: FeedTest): Promise<boolean> {
  let resolve: (isHeard: boolean) => void = () => undefined;
  const heard = new Promise<boolean>((done) => {
    resolve = done;
  });
  const deadline = deadlines.add(timeoutMs, () => resolve(false));
  const end = listening(({ kind, workflowId }) => {
    if (kind === "test" && workflowId === id) resolve(true);
  });
  try {
    const sent = feed.publish([{ kind: "test", workflowId: id, version: 0 }]);
    return await Promise.race([heard, sent.then(() => heard)]);
  } finally {
    deadline.cancel();
    end();
  }
}

/** How long a feed is waited for. */
const maxHearMs = 2_000;

/**
 * Whether a feed hears what it publishes. Behind a pooler that hands a connection from one transaction to the next it does not; a runtime
 * notices that by itself, and polls.
 *
 * ```ts
 * if (!(await feedHearsItself(feed))) console.warn("The feed is silent: what happens is seen a second later");
 * ```
 *
 * @throws StepfoldError `FEED_UNAVAILABLE`
 */
export async function feedHearsItself(feed: EventFeed): Promise<boolean> {
  const deadlines = new Deadlines(systemEnvironment);
  const missing = (): Error =>
    new StepfoldError("FEED_UNAVAILABLE", { feed: feed.name, reason: `there was no answer for ${maxHearMs} ms` });
  const inTime = <T>(work: Promise<T>): Promise<T> => awaitAnswer(work, { deadlines, timeoutMs: maxHearMs, missing });
  // deadlines keep no process alive
  const endWaiting = systemEnvironment.after(3 * maxHearMs, () => undefined);
  try {
    return await heardOver(feed, inTime, deadlines);
  } finally {
    endWaiting();
  }
}

async function heardOver(feed: EventFeed, inTime: <T>(work: Promise<T>) => Promise<T>, deadlines: Deadlines): Promise<boolean> {
  const id = systemEnvironment.newId();
  const heard = new Set<(notice: Notice) => void>();
  const hear = (notices: readonly Notice[]): void => {
    for (const notice of notices) for (const each of heard) each(notice);
  };
  const subscription = await inTime(feed.listen(hear, { onEnd: () => undefined }));
  const listening = (each: (notice: Notice) => void): (() => void) => {
    heard.add(each);
    return () => heard.delete(each);
  };
  try {
    return await inTime(testFeed({ feed, id, listening, deadlines, timeoutMs: maxHearMs / 2 }));
  } finally {
    await inTime(subscription.close()).catch(() => undefined);
  }
}
