import type { Environment, SnapshotStore } from "stepfold";
import type { Runtime } from "stepfold/runtime";
import { answeringStore } from "./answering-store.ts";
import type { FrameStream } from "./live/frame-stream.ts";
import { KnownWorkers } from "./live/known-workers.ts";
import { ListPolls } from "./live/list-polls.ts";
import { Tails } from "./live/tails.ts";
import { Workflows } from "./live/workflows.ts";
import type { TenantSite } from "./server-options.ts";

/** The store's clock is asked for again after this time. */
const clockMs = 30_000;

/** A store with its runtime, and what is looked at in it. */
export interface Site {
  readonly store: SnapshotStore;
  readonly runtime: Runtime;
  readonly workflows: Workflows;
  readonly workers: KnownWorkers;
  readonly tails: Tails;
  readonly lists: ListPolls;
  /** Asks for the time of the store's clock, or knows it from before. @param maxAgeMs for how long it may be known. Default 30 s */
  now(maxAgeMs?: number): Promise<number>;
  /** The time of the store's clock, as far as it is known now. */
  storeNow(): number;
  /** Ends a stream with the site; at once if the site is closed. */
  opened(stream: FrameStream): void;
  close(): void;
}

/** Opens a site. Nothing is read before somebody asks. */
export function openSite({ store: given, runtime, live }: TenantSite, environment: Environment): Site {
  const store = answeringStore(given, environment);
  const workflows = new Workflows(store);
  const clock = new KnownClock(store, environment);
  const storeNow = (): number => clock.now();
  const workers = new KnownWorkers(runtime, environment);
  const tails = new Tails({ store, workflows, environment, storeNow }, { runtime, workers });
  const lists = new ListPolls(environment);
  const streams = new Set<FrameStream>();
  let isClosed = false;
  const stopListening = live?.listen((message) => {
    tails.take(message);
    if (message.type === "event") lists.hint();
  });
  return {
    ...{ store, runtime, workflows, workers, tails, lists, storeNow },
    now: (maxAgeMs = clockMs) => clock.ask(maxAgeMs),
    opened(stream) {
      if (isClosed) return stream.close();
      streams.add(stream);
      stream.onEnd(() => streams.delete(stream));
    },
    close() {
      isClosed = true;
      stopListening?.();
      for (const stream of streams) stream.close();
      tails.close();
      lists.close();
    },
  };
}

/** The clock of a store, which is asked once in a while. */
class KnownClock {
  readonly #store: SnapshotStore;
  readonly #environment: Environment;
  /** The difference between the clocks, and when it was measured. */
  #aheadMs = 0;
  #measuredAtMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | null = null;

  constructor(store: SnapshotStore, environment: Environment) {
    this.#store = store;
    this.#environment = environment;
  }

  /** The time as it is known. If that was long ago, the store is asked meanwhile. */
  now(): number {
    void this.ask(clockMs).catch(() => undefined);
    return this.#known();
  }

  async ask(maxAgeMs: number): Promise<number> {
    if (this.#environment.monotonicMs() - this.#measuredAtMs > maxAgeMs) {
      // many who ask at once share the answer
      this.#asking ??= this.#measure().finally(() => {
        this.#asking = null;
      });
      await this.#asking;
    }
    return this.#known();
  }

  #known(): number {
    return Math.round(this.#environment.now() + this.#aheadMs);
  }

  async #measure(): Promise<void> {
    const askedAt = this.#environment.now();
    const now = await this.#store.now();
    // the store has probably answered in the middle of that time
    this.#aheadMs = now - (askedAt + this.#environment.now()) / 2;
    this.#measuredAtMs = this.#environment.monotonicMs();
  }
}
