import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { awaitAnswer } from "../../environment/await-answer.ts";
import { type Deadlines, nextMacrotask } from "../../environment/system-environment.ts";
import type { Environment } from "../../ports/environment.ts";
import type { EventFeed, FeedSubscription, Notice, NoticeKind } from "../../ports/event-feed.ts";
import { testFeed } from "./test-feed.ts";
import { withTimeout } from "./with-timeout.ts";

/** After a statement with notices, the next one waits this long for each of them: up to 200 notices a second are not delayed by more than 5 ms. */
const gapMs = 5;
/**
 * The longest wait between two statements, which a process reaches that has five notices or more in one. A statement costs the database
 * about as much whether it carries one notice or a hundred, so a busy process sends at most 40 a second and leaves the rest to commits.
 */
const maxGapMs = 25;
/** Notices that wait to be sent; more are left out, because the feed does not keep up. */
const maxWaiting = 10_000;
/** How often a listener is tested: a connection may be dead and not say so. */
const testEveryMs = 15_000;
/** How long a notice to itself may take. */
const testMs = 2_000;
/** How long the end of a runtime waits for its feed. */
const maxCloseMs = 2_000;
const firstDelayMs = 100;
const maxDelayMs = 60_000;

interface FeedLinkOptions {
  /** Null: nobody is told, and nothing is heard. */
  readonly feed: EventFeed | null;
  readonly environment: Environment;
  readonly deadlines: Deadlines;
  /** How long the feed is waited for. */
  readonly answerMs: number;
  /** Told once when nothing is heard any more. */
  readonly onProblem: (error: unknown) => void;
  /** Told when it is heard again. */
  readonly note: (text: string) => void;
}

/** Who hears of other processes. */
export interface FeedHearer {
  hear(notice: Notice): void;
  /** Called when the feed is heard for the first time, or again: some notices may have been missed. */
  missed(): void;
}

/** Tells other processes of commits of this one, and hears of theirs. All of it is a hint: nothing fails without it, and polls go on. */
export class FeedLink {
  readonly #options: FeedLinkOptions;
  readonly #closing = new AbortController();
  readonly #hearers = new Set<FeedHearer>();
  #waiting = new Map<string, Notice>();
  /** Ends when all that waits has been sent. */
  #sending: Promise<void> | null = null;
  /** When the next statement may be sent. */
  #nextMs = Number.NEGATIVE_INFINITY;
  #listening: Promise<void> | null = null;
  #isDown = false;

  constructor(options: FeedLinkOptions) {
    this.#options = options;
  }

  /** Tells all processes, soon: what is told within a few milliseconds goes together. */
  tell(kind: NoticeKind, { workflowId, version }: { readonly workflowId: string; readonly version: number }): void {
    if (!this.#options.feed || this.#closing.signal.aborted || this.#waiting.size >= maxWaiting) return;
    this.#waiting.set(`${kind} ${workflowId}`, { kind, workflowId, version });
    this.#sending ??= this.#sendAll(this.#options.feed).finally(() => {
      this.#sending = null;
    });
  }

  /** Hears what all processes tell, this one too. Returns the function that ends that. */
  subscribe(hearer: FeedHearer): () => void {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  }

  /** Begins to listen, unless it does. */
  listen(): void {
    const { feed } = this.#options;
    if (feed && !this.#closing.signal.aborted) this.#listening ??= this.#keepListening(feed);
  }

  /** Sends what waits, and listens no more. */
  async close(): Promise<void> {
    this.#closing.abort();
    await withTimeout(this.#options.environment, maxCloseMs, Promise.all([this.#sending, this.#listening]));
  }

  async #sendAll(feed: EventFeed): Promise<void> {
    // other commits that the store has answered in the same moment go along
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
        // what was told before is found by a look
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
    const reason = "it does not hear its own notices: is there a pooler between? The store is polled";
    throw new StepfoldError("FEED_UNAVAILABLE", { feed: feed.name, reason });
  }

  #hear(notices: readonly Notice[]): void {
    if (this.#closing.signal.aborted) return;
    for (const notice of notices) for (const { hear } of this.#hearers) hear(notice);
  }

  /** Once until it is heard again: a feed that is away is asked again and again. */
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

  /** Ends early when it is closed. */
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
