import type { Client, ExecutionView, StreamFrame } from "stepfold/client";
import type { ExecutionModel } from "./execution-model.ts";

/** The calls that take the place of a stream. */
export type PolledClient = { readonly executions: Pick<Client["executions"], "get" | "events"> };

/** Calls back after a time; the function that it returns prevents that. */
export type Schedule = (call: () => void, delayMs: number) => () => void;

/** A stream tells how the execution stands as soon as it is connected. If nothing has come after this time, something holds it back. */
const silentMs = 3_000;
const pollMs = 2_000;
const pageSize = 500;

/** Calls back by the timers of this machine. */
export const bySystem: Schedule = (call, delayMs) => {
  const timer = setTimeout(call, delayMs);
  return () => clearTimeout(timer);
};

/**
 * Takes the place of a stream of which nothing comes, because a proxy collects it: asks again and again for what is new, until the stream
 * tells something.
 */
export class SilentStream {
  readonly #client: PolledClient;
  readonly #model: ExecutionModel;
  readonly #signal: AbortSignal;
  readonly #schedule: Schedule;
  #stop: () => void = () => undefined;
  #isSilent = true;
  #known: ExecutionView | undefined;

  constructor(client: PolledClient, model: ExecutionModel, signal: AbortSignal, schedule: Schedule = bySystem) {
    this.#client = client;
    this.#model = model;
    this.#signal = signal;
    this.#schedule = schedule;
    signal.addEventListener("abort", () => this.#stop());
    this.#listen(silentMs);
  }

  /** Something has come: news, or a change of the connection, after which news are due again. */
  hear({ type }: StreamFrame): void {
    this.#stop();
    this.#isSilent = type === "link";
    if (this.#isSilent) this.#listen(silentMs);
  }

  /** There is nothing more to wait for. */
  end(): void {
    this.#isSilent = false;
    this.#stop();
  }

  #listen(delayMs: number): void {
    if (this.#signal.aborted) return;
    this.#stop = this.#schedule(() => {
      // while there is no connection, nothing can be asked either
      const asked = this.#model.link.isLive ? this.#poll() : Promise.resolve();
      void asked.then(() => this.#isSilent && this.#listen(pollMs));
    }, delayMs);
  }

  async #poll(): Promise<void> {
    const { id } = this.#model;
    const call = { signal: this.#signal };
    try {
      const view = await this.#client.executions.get(id, { ...call, ...(this.#known && { known: this.#known }) });
      this.#known = view;
      const { head } = this.#model;
      if (head && head.incarnation !== view.incarnation) this.#take({ type: "reset", execution: id, reason: "replaced" });
      while (this.#isSilent && this.#model.last < view.version) {
        const { last } = this.#model;
        const page = await this.#client.executions.events(
          id,
          { after: last, limit: pageSize, ...(this.#model.isBrief && { view: "brief" }) },
          call,
        );
        for (const event of page.items) this.#take({ type: "event", execution: id, event });
        if (this.#model.last === last) break;
      }
      this.#take({ type: "head", execution: id, view });
    } catch {
      // what is wrong with the connection is told by the stream
    }
  }

  /** What the stream itself has told meanwhile counts more. */
  #take(frame: StreamFrame): void {
    if (this.#isSilent) this.#model.take(frame);
  }
}
