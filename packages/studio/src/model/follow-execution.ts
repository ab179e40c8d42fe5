import type { Client, ExecutionView, PositionedFrame } from "stepfold/client";
import type { ExecutionModel } from "./execution-model.ts";
import { bySystem, type PolledClient, type Schedule, SilentStream } from "./silent-stream.ts";

/** The calls that following an execution makes. */
export type FollowedClient = Pick<Client, "stream"> & PolledClient & { readonly executions: Pick<Client["executions"], "definition"> };

/** Larger executions are told without their values: those are read when somebody looks at them. */
const maxFullBytes = 4 * 1024 * 1024;

/** The bounds of the pause before the next try, as those of a stream. */
const [minPauseMs, maxPauseMs] = [1_000, 15_000];

/** Codes that say that a definition cannot be had, whatever is tried. */
const gone = new Set(["DEFINITION_MISSING", "DEFINITION_UNKNOWN", "DEFINITION_INVALID", "FORBIDDEN", "LIMIT_EXCEEDED"]);

/**
 * Follows an execution until the signal is aborted, or until there is nothing more to tell. The model is told of everything, also of an error
 * that ends it.
 *
 * @param after the position of the last frame of an earlier call, from which it goes on. Default: from the first event
 * @param onPosition is told the position of each frame
 */
export async function followExecution(
  client: FollowedClient,
  model: ExecutionModel,
  signal: AbortSignal,
  after?: string,
  onPosition: (position: string) => void = () => undefined,
  schedule: Schedule = bySystem,
): Promise<void> {
  const definitions = new DefinitionLoader(client, model, signal);
  try {
    // a page that comes back goes on with what it has; the stream connects by itself
    if (!model.head) {
      const view = await firstView(client, model, signal, schedule);
      model.isBrief = view.sizeBytes > maxFullBytes;
      model.take({ type: "head", execution: model.id, view });
    }
    definitions.load();
    const silence = new SilentStream(client, model, signal);
    const query = { executions: [model.id], ...(model.isBrief && { view: "brief" as const }) };
    for await (const frame of client.stream(query, { signal, ...(after !== undefined && { after }) })) {
      const { id, ...told } = frame as PositionedFrame & { readonly id?: string };
      silence.hear(told);
      model.take(told);
      if (id !== undefined) onPosition(id);
      definitions.load();
    }
    silence.end();
  } catch (error) {
    if (!signal.aborted) model.fail(error);
  }
}

/** Reads how the execution stands, as soon as the server answers: a page that is opened while there is no connection waits for it, as an open one. */
async function firstView(client: FollowedClient, model: ExecutionModel, signal: AbortSignal, schedule: Schedule): Promise<ExecutionView> {
  for (let pauseMs = minPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    try {
      const view = await client.executions.get(model.id, { signal });
      if (model.error) model.fail(null);
      if (!model.link.isLive) model.take({ type: "link", isLive: true });
      return view;
    } catch (error) {
      const { status, code } = error as { readonly status?: unknown; readonly code?: unknown };
      if (signal.aborted || typeof status !== "number" || (status !== 0 && status < 500)) throw error;
      // what a server says itself is shown, while it is asked again
      if (status !== 0) model.fail(error);
      model.take({ type: "link", isLive: false, againInMs: pauseMs, ...(typeof code === "string" && { code }) });
      await new Promise<void>((resolve) => {
        const cancel = schedule(resolve, pauseMs);
        const stop = (): void => {
          cancel();
          resolve();
        };
        signal.addEventListener("abort", stop, { once: true });
      });
      signal.throwIfAborted();
    }
  }
}

/** Loads the definitions that the events follow, each once. */
class DefinitionLoader {
  readonly #client: FollowedClient;
  readonly #model: ExecutionModel;
  readonly #signal: AbortSignal;
  readonly #loading = new Set<string>();

  constructor(client: FollowedClient, model: ExecutionModel, signal: AbortSignal) {
    this.#client = client;
    this.#model = model;
    this.#signal = signal;
  }

  /** Begins to load those that are missing. A load that failed is tried again at the next call. */
  load(): void {
    for (const hash of this.#model.unknownHashes) if (!this.#loading.has(hash)) void this.#load(hash);
  }

  async #load(hash: string): Promise<void> {
    this.#loading.add(hash);
    try {
      this.#model.define(hash, await this.#client.executions.definition(this.#model.id, { hash }, { signal: this.#signal }));
    } catch (error) {
      const { code } = error as { readonly code?: unknown };
      if (typeof code === "string" && gone.has(code)) this.#model.define(hash, null);
    } finally {
      this.#loading.delete(hash);
    }
  }
}
