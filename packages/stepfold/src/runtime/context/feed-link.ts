import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { awaitAnswer } from "../../environment/await-answer.ts";
import { type Deadlines, nextMacrotask } from "../../environment/system-environment.ts";
import type { Environment } from "../../ports/environment.ts";
import type { EventFeed, FeedSubscription, Notice, NoticeKind } from "../../ports/event-feed.ts";
import { testFeed } from "./test-feed.ts";
import { withTimeout } from "./with-timeout.ts";

/** After a statement, the next one waits this long for each notice in it. So 200 notices a second are delayed by at most 5 ms. */
const gapMs = 5;
/**
 * The longest wait between two statements: it applies after a statement with five notices or more. A statement costs the database about
 * the same with one notice or with a hundred, so a busy process sends at most 40 statements a second and leaves the rest to commits.
 */
const maxGapMs = 25;
/** The most notices that wait to be sent. More are dropped, because the feed does not keep up. */
const maxWaiting = 10_000;
/** The time between two tests of a listener, because a connection may be dead without an error. */
const testEveryMs = 15_000;
/** How long a notice of this process to itself may take. */
const testMs = 2_000;
/** How long `close` waits for the feed. */
const maxCloseMs = 2_000;
/** The first and the longest time between two tries to listen. */
const firstDelayMs = 100;
const maxDelayMs = 60_000;

interface FeedLinkOptions {
  /** Null: no notices are sent and none are heard. */
  readonly feed: EventFeed | null;
  readonly environment: Environment;
  readonly deadlines: Deadlines;
  /** How long an answer of the feed is waited for. */
  readonly answerMs: number;
  /** Called once when the feed fails, and again only after it was heard in between. */
  readonly onProblem: (error: unknown) => void;
  /** Called when the feed is heard again. */
  readonly note: (text: string) => void;
}

/** A part of the runtime that takes the notices of the feed. */
export interface FeedHearer {
  hear(notice: Notice): void;
  /** Called each time this process has begun to listen, also the first time: some notices may have been missed. */
  missed(): void;
}

/** Tells other processes of commits of this process, and hears of theirs. Notices are only hints: nothing fails without them. */
export class FeedLink {
  readonly #options: FeedLinkOptions;
  readonly #closing = new AbortController();
  readonly #hearers = new Set<FeedHearer>();
  #waiting = new Map<string, Notice>();
  /** Settles when all waiting notices have been sent; null if none wait. */
  #sending: Promise<void> | null = null;
  /** When the next statement may be sent, on the monotonic clock. */
  #nextMs = Number.NEGATIVE_INFINITY;
  #listening: Promise<void> | null = null;
  /** A problem was reported, and the feed was not heard since. */
  #isDown = false;

  constructor(options: FeedLinkOptions) {
    this.#options = options;
  }

  /** Tells all processes soon. Notices of the same few milliseconds are sent together, and of the same kind and execution only the last. */
  tell(kind: NoticeKind, { workflowId, version, run, restarts }: Omit<Notice, "kind">): void {
    if (!this.#options.feed || this.#closing.signal.aborted || this.#waiting.size >= maxWaiting) return;
    this.#waiting.set(`${kind} ${workflowId}`, {
      ...{ kind, workflowId, version },
      ...(run !== undefined && { run }),
      ...(restarts !== undefined && { restarts }),
    });
    this.#sending ??= this.#sendAll(this.#options.feed).finally(() => {
      this.#sending = null;
    });
  }

  /** Gives a hearer the notices of all processes, including this one. Returns a function that ends this. */
  subscribe(hearer: FeedHearer): () => void {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  }

  /** Begins to listen, unless this process listens already. */
  listen(): void {
    const { feed } = this.#options;
    if (feed && !this.#closing.signal.aborted) this.#listening ??= this.#keepListening(feed);
  }

  /** Sends the notices that wait, and stops listening. */
  async close(): Promise<void> {
    this.#closing.abort();
    await withTimeout(this.#options.environment, maxCloseMs, Promise.all([this.#sending, this.#listening]));
  }

  async #sendAll(feed: EventFeed): Promise<void> {
    // so that notices of other commits that the store has answered in the same moment are sent together with this one
    await nextMacrotask();
    while (this.#waiting.size > 0) {
      const { environment } = this.#options;
      const delayMs = this.#nextMs - environment.monotonicMs();
      if (delayMs > 0 && !this.#closing.signal.aborted) await this.#pause(delayMs);
      const notices = [...this.#waiting.values()];
      this.#waiting = new Map();
      this.#nextMs = environment.monotonicMs() + Math.min(notices.length * gapMs, maxGapMs);
      await this.#answer(feed, feed.publish(notices)).catch((error: unknown) => this.#report(error));
    }
  }

  async #keepListening(feed: EventFeed): Promise<void> {
    for (let delayMs = firstDelayMs; !this.#closing.signal.aborted; delayMs = Math.min(delayMs * 2, maxDelayMs)) {
      let subscription: FeedSubscription | null = null;
      let lose: (error: unknown) => void = () => undefined;
      const lost = new Promise<never>((_, reject) => {
        lose = reject;
      });
      lost.catch(() => undefined);
      try {
        const opening = feed.listen((notices) => this.#hear(notices), { onEnd: (error) => lose(error) });
        subscription = await this.#answer(feed, opening, (late) => void late.close().catch(() => undefined));
        // hearers now look for changes whose notices came before this process listened
        for (const { missed } of this.#hearers) missed();
        while (!this.#closing.signal.aborted) {
          await Promise.race([this.#test(feed), lost]);
          this.#isHeard();
          delayMs = firstDelayMs;
          await Promise.race([this.#pause(testEveryMs), lost]);
        }
      } catch (error) {
        this.#report(error);
      }
      if (subscription) await this.#answer(feed, subscription.close()).catch(() => undefined);
      if (!this.#closing.signal.aborted) await this.#pause(delayMs);
    }
  }

  async #test(feed: EventFeed): Promise<void> {
    const { environment, deadlines } = this.#options;
    const listening = (hear: (notice: Notice) => void): (() => void) => this.subscribe({ hear, missed: () => undefined });
    const isHeard = await testFeed({ feed, id: environment.newId(), listening, deadlines, timeoutMs: testMs });
    if (isHeard || this.#closing.signal.aborted) return;
    const reason = "it does not deliver a process its own notices, perhaps because of a connection pooler. The store is polled instead";
    throw new StepfoldError("FEED_UNAVAILABLE", { feed: feed.name, reason });
  }

  #hear(notices: readonly Notice[]): void {
    if (this.#closing.signal.aborted) return;
    for (const notice of notices) for (const { hear } of this.#hearers) hear(notice);
  }

  /** Reports a problem, but only once until the feed is heard again: a feed that does not answer is tried again and again. */
  #report(error: unknown): void {
    if (this.#isDown || this.#closing.signal.aborted) return;
    this.#isDown = true;
    this.#options.onProblem(error);
  }

  #isHeard(): void {
    if (this.#isDown) this.#options.note("Stepfold hears the feed again");
    this.#isDown = false;
  }

  #answer<T>(feed: EventFeed, work: Promise<T>, late?: (value: T) => void): Promise<T> {
    const { deadlines, answerMs } = this.#options;
    const reason = `there was no answer for ${answerMs} ms`;
    const missing = (): Error => new StepfoldError("FEED_UNAVAILABLE", { feed: feed.name, reason });
    return awaitAnswer(work, { deadlines, timeoutMs: answerMs, missing, late });
  }

  /** Waits, and ends early when the feed link is closed. */
  #pause(delayMs: number): Promise<void> {
    const { signal } = this.#closing;
    return new Promise((resolve) => {
      const over = (): void => {
        cancel();
        signal.removeEventListener("abort", over);
        resolve();
      };
      const cancel = this.#options.environment.after(delayMs, over, { poll: true, background: delayMs > maxGapMs });
      signal.addEventListener("abort", over);
      if (signal.aborted) over();
    });
  }
}
