import type { Deadlines } from "../../environment/system-environment.ts";
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
  const cancel = deadlines.add(timeoutMs, () => resolve(false));
  const end = listening(({ kind, workflowId }) => {
    if (kind === "test" && workflowId === id) resolve(true);
  });
  try {
    const sent = feed.publish([{ kind: "test", workflowId: id, version: 0 }]);
    return await Promise.race([heard, sent.then(() => heard)]);
  } finally {
    cancel();
    end();
  }
}
