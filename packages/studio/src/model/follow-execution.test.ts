import type { ExecutionView, PositionedFrame } from "stepfold/client";
import type { Event, StartedEvent } from "stepfold/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { directPort } from "../../test/execution/direct-port.fixture.ts";
import { type History, order, startHistory } from "../../test/execution/history.fixture.ts";
import { ExecutionModel } from "./execution-model.ts";
import { type FollowedClient, followExecution } from "./follow-execution.ts";
import { ReplayClient } from "./replay/replay-client.ts";

let history: History;
let events: Event[];
let view: ExecutionView;

beforeEach(async () => {
  history = await startHistory(order, { total: 1 });
  events = await history.events();
  const { definition } = events[0] as StartedEvent;
  view = { workflowId: "one", definition, sizeBytes: 100, storeNow: 0, lease: null, version: events.at(-1)!.version } as ExecutionView;
});
afterEach(() => history.close());

/** A server that tells the real events. */
function clientOf(
  given: { readonly sizeBytes?: number; readonly definition?: () => Promise<never>; readonly get?: () => Promise<ExecutionView> } = {},
) {
  const queries: unknown[] = [];
  const client: FollowedClient = {
    executions: {
      get: given.get ?? (async () => ({ ...view, sizeBytes: given.sizeBytes ?? view.sizeBytes })),
      events: async (_id, query) => {
        const items = events.filter(({ version }) => version > (query?.after ?? -1)).slice(0, 3);
        return { items, next: null, last: events.at(-1)!.version };
      },
      definition: given.definition ?? (async (_id, query) => (await history.definition(query!.hash!))!),
    },
    async *stream(query, options): AsyncGenerator<PositionedFrame, void, undefined> {
      queries.push([query, options?.after]);
      for (const event of events) yield { type: "event", execution: "one", event, id: `0:${event.version}` };
      yield { type: "end", execution: "one", reason: "gone" };
    },
  };
  const model = new ExecutionModel("one", { replay: new ReplayClient(directPort()), now: () => 0, schedule: (draw) => setTimeout(draw) });
  return { client, model, queries };
}

const never = new AbortController().signal;

describe("followExecution", () => {
  it("tells the model everything, with the definitions that it needs, and says how far it came", async () => {
    const { client, model, queries } = clientOf();
    const positions: string[] = [];
    await followExecution(client, model, never, undefined, (position) => positions.push(position));
    expect(model.events).toEqual(events);
    expect(positions.at(-1)).toBe(`0:${events.at(-1)!.version}`);
    expect([model.isGone, model.error, model.head?.version]).toEqual([true, null, view.version]);
    await vi.waitFor(() => expect(model.state?.version).toBe(model.last));
    await followExecution(client, model, never, positions.at(-1));
    expect(queries).toEqual([
      [{ executions: ["one"] }, undefined],
      [{ executions: ["one"] }, positions.at(-1)],
    ]);
  });

  it("asks for the events of a large execution without their values", async () => {
    const { client, model, queries } = clientOf({ sizeBytes: 5 * 1024 * 1024 });
    await followExecution(client, model, never);
    expect(queries).toEqual([[{ executions: ["one"], view: "brief" }, undefined]]);
    expect(model.isBrief).toBe(true);
  });

  it("goes on without a definition that is gone", async () => {
    const gone = Object.assign(new Error("gone"), { code: "DEFINITION_MISSING" });
    const { client, model } = clientOf({ definition: () => Promise.reject(gone) });
    await followExecution(client, model, never);
    await vi.waitFor(() => expect(model.state).toMatchObject({ version: model.last, folded: null }));
    expect(model.definition(view.definition.hash)).toBeNull();
  });

  it("waits for a server that does not answer, and shows what one says that cannot", async () => {
    const lost = Object.assign(new Error("lost"), { code: "CONNECTION_LOST", status: 0 });
    const broken = Object.assign(new Error("no store"), { code: "STORE_UNAVAILABLE", status: 503 });
    const answers: (Error | null)[] = [lost, lost, broken, null];
    const { client, model } = clientOf({
      get: async () => {
        const error = answers.shift();
        if (error) throw error;
        return view;
      },
    });
    const seen: unknown[] = [];
    await followExecution(client, model, never, undefined, undefined, (call, delayMs) => {
      seen.push([delayMs, model.link.isLive, (model.error as Error | null)?.message ?? null]);
      queueMicrotask(call);
      return () => undefined;
    });
    expect(seen.slice(0, 3)).toEqual([
      [1_000, false, null],
      [2_000, false, null],
      [4_000, false, "no store"],
    ]);
    expect([model.error, model.link.isLive, model.events.length]).toEqual([null, true, events.length]);
  });

  it("says why it cannot follow, but not that it was ended on purpose", async () => {
    const refused = Object.assign(new Error("no"), { code: "FORBIDDEN" });
    const { client, model } = clientOf({ get: () => Promise.reject(refused) });
    await followExecution(client, model, never);
    expect(model.error).toBe(refused);
    const ended = clientOf({ get: () => Promise.reject(refused) });
    await followExecution(ended.client, ended.model, AbortSignal.abort());
    expect(ended.model.error).toBeNull();
  });
});
