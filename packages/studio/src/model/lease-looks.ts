import type { Client } from "stepfold/client";
import type { EpochMs } from "stepfold/core";
import type { ExecutionModel } from "./execution-model.ts";
import { bySystem, type Schedule } from "./silent-stream.ts";

/** How long before its end a lease is looked at: a process that lives has renewed it by then. */
const beforeMs = 1_000;
/** How long after its end a lease is looked at, so that the answer is sure. */
const behindMs = 250;
/** How often a lease is looked at that has ended. */
const againMs = 10_000;

/**
 * Looks at the lease of an execution when it is about to end, because the stream does not tell that it was renewed: without that, a page could
 * not know whether its holder lives. One lease, one look; two if it has ended.
 */
export class LeaseLooks {
  readonly #client: { readonly executions: Pick<Client["executions"], "get"> };
  readonly #model: ExecutionModel;
  readonly #signal: AbortSignal;
  readonly #now: () => EpochMs;
  readonly #schedule: Schedule;
  #cancel: () => void = () => undefined;
  #until: EpochMs | null = null;

  /** @param now the time of the server's clock */
  constructor(
    client: { readonly executions: Pick<Client["executions"], "get"> },
    model: ExecutionModel,
    signal: AbortSignal,
    now: () => EpochMs,
    schedule: Schedule = bySystem,
  ) {
    [this.#client, this.#model, this.#signal, this.#now, this.#schedule] = [client, model, signal, now, schedule];
    const unsubscribe = model.subscribe(() => this.#see());
    signal.addEventListener("abort", () => {
      unsubscribe();
      this.#cancel();
    });
    this.#see();
  }

  #see(): void {
    const until = this.#model.head?.lease?.until ?? null;
    if (until === this.#until) return;
    this.#until = until;
    this.#wait();
  }

  #wait(): void {
    this.#cancel();
    if (this.#until === null || this.#signal.aborted) return;
    this.#cancel = this.#schedule(() => void this.#look().then(() => this.#wait()), delayOf(this.#until, this.#now()));
  }

  async #look(): Promise<void> {
    // while there is no connection, nothing can be asked either
    if (!this.#model.link.isLive) return;
    try {
      const view = await this.#client.executions.get(this.#model.id, { signal: this.#signal });
      const { head, id } = this.#model;
      const isLater = head && head.incarnation === view.incarnation && head.version <= view.version;
      if (isLater && !this.#signal.aborted) this.#model.take({ type: "head", execution: id, view });
      this.#until = this.#model.head?.lease?.until ?? null;
    } catch {
      // what is wrong with the connection is told by the stream
    }
  }
}

function delayOf(until: EpochMs, now: EpochMs): number {
  if (until - beforeMs > now) return until - beforeMs - now;
  return until + behindMs > now ? until + behindMs - now : againMs;
}
