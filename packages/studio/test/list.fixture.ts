import type { ExecutionListQuery, ExecutionPage, ListedExecution, PositionedFrame, StreamFrame } from "stepfold/client";
import { expect, onTestFinished, vi } from "vitest";
import { type ListClient, ListModel } from "../src/pages/executions/list/list-model.ts";
import { noon, rowOf } from "./rows.fixture.ts";

/** A server of a list: its pages and frames are what the test gives. */
export class ListServer implements ListClient {
  readonly asked: ExecutionListQuery[] = [];
  readonly pages = new Map<string | undefined, ExecutionPage | Error>();
  readonly streams: { readonly signal: AbortSignal; readonly query: unknown }[] = [];
  #send: ((frame: StreamFrame) => void) | undefined;

  readonly executions = {
    list: async (query: ExecutionListQuery = {}): Promise<ExecutionPage> => {
      this.asked.push(query);
      const page = this.pages.get(query.cursor);
      if (page instanceof Error) throw page;
      if (!page) throw new TypeError(`there is no page ${query.cursor}`);
      return page;
    },
  };

  readonly stream: ListClient["stream"] = (query, { signal } = {}) => {
    this.streams.push({ signal: signal!, query });
    return this.#frames(signal!);
  };

  send(frame: StreamFrame): void {
    this.#send!(frame);
  }

  async *#frames(signal: AbortSignal): AsyncGenerator<PositionedFrame, void, undefined> {
    const queue: StreamFrame[] = [];
    let wake: () => void = () => undefined;
    this.#send = (frame) => {
      queue.push(frame);
      wake();
    };
    signal.addEventListener("abort", () => wake());
    while (!signal.aborted) {
      const next = queue.shift();
      if (next) yield next;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
}

/** A page of a list, the last one unless `nextCursor` is given. */
export const page = (items: readonly ListedExecution[], more: Partial<ExecutionPage> = {}): ExecutionPage => ({
  items,
  nextCursor: null,
  looked: null,
  complete: true,
  storeNow: noon,
  ...more,
});
export const row = (id: number, given: Partial<ListedExecution> = {}): ListedExecution =>
  rowOf({ workflowId: `order-${id}`, createdAt: noon + id, ...given });
/** A clock that stands where a test puts it. */
export const clock = { now: noon, read: () => clock.now, synchronize: () => undefined };
export const news = (upsert: readonly ListedExecution[], gone: readonly string[] = []): StreamFrame => ({
  type: "list",
  upsert,
  gone,
  storeNow: noon,
});

/** Each closes a list that is open. */
export const close: (() => void)[] = [];

/** Opens a list until the test ends, and waits for its first page. */
export async function openList(server: ListServer, query: ExecutionListQuery = {}): Promise<ListModel> {
  const model = new ListModel(server, query, clock);
  close.push(model.open());
  onTestFinished(() => {
    clock.now = noon;
    for (const stop of close.splice(0)) stop();
  });
  await vi.waitFor(() => expect(model.getState().isLoaded || model.getState().failure !== null).toBe(true));
  return model;
}

export const shown = (model: ListModel): readonly string[] => model.getState().rows.map(({ row: { workflowId } }) => workflowId);
export const arrived = (model: ListModel): readonly string[] => model.getState().arrived.map(({ workflowId }) => workflowId);
