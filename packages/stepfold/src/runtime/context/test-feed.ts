import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { awaitAnswer } from "../../environment/await-answer.ts";
import { Deadlines, systemEnvironment } from "../../environment/system-environment.ts";
import type { EventFeed, Notice } from "../../ports/event-feed.ts";

/** How a feed is tested. */
export interface FeedTest {
  readonly feed: EventFeed;
  /** The id by which the notice of this test is recognised. */
  readonly id: string;
  /** Calls `hear` with every notice of the feed. Returns a function that ends this. */
  readonly listening: (hear: (notice: Notice) => void) => () => void;
  readonly deadlines: Deadlines;
  /** How long the notice may take. */
  readonly timeoutMs: number;
}

/**
 * Sends a notice over the feed and waits until this process hears it.
 *
 * @returns false if the notice was not heard in time: something between keeps notices back
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

/** How long an answer of the feed is waited for; the notice of the test may take half of it. */
const maxHearMs = 2_000;

/**
 * Tells whether a feed hears what it publishes. A feed is silent behind a connection pooler that gives its connections to other clients
 * between transactions. A runtime notices this by itself, and polls.
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
  // this timer keeps the process alive, because deadlines do not
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
