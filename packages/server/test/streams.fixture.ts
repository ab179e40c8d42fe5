import type { WorkflowDefinition } from "stepfold";
import { type Client, createClient, type StreamFrame } from "stepfold/client";
import { ask as asking, double, type Served, tokenOf } from "./served.fixture.ts";

/** Counts as far as it is told, one event after the other. */
export const counting: WorkflowDefinition = {
  id: "counting",
  nodes: [
    { id: "count", type: "set", data: { n: "{{ (nodes.count.last?.data.n ?? 0) + 1 }}" } },
    { id: "more", type: "if", data: { condition: "{{ nodes.count.last.data.n < input.to }}" } },
    { id: "done", type: "end", data: {} },
  ],
  edges: [
    { source: "count", target: "more" },
    { source: "more", target: "count", sourceHandle: "true" },
    { source: "more", target: "done", sourceHandle: "false" },
  ],
  start: "count",
} as unknown as WorkflowDefinition;

export const workflows: readonly WorkflowDefinition[] = [asking, double, counting];

/** A client of a server in this process. */
export function clientOf({ server }: Served, as = "ada"): Client {
  return createClient({ url: "http://localhost", token: tokenOf(as), fetch: (url, init) => server.fetch(withHost(url, init)) });
}

function withHost(url: string, init: RequestInit): Request {
  const request = new Request(url, init);
  request.headers.set("host", "localhost");
  return request;
}

/** The frames of a stream, until one that `isLast`. */
export async function until(
  frames: AsyncIterable<StreamFrame>,
  isLast: (frame: StreamFrame, all: readonly StreamFrame[]) => boolean,
): Promise<StreamFrame[]> {
  const all: StreamFrame[] = [];
  for await (const frame of frames) {
    all.push(frame);
    if (isLast(frame, all)) break;
  }
  return all;
}

export const versionsOf = (frames: readonly StreamFrame[]): number[] =>
  frames.flatMap((frame) => (frame.type === "event" ? [frame.event.version] : []));
export const isEnd = (frame: StreamFrame): boolean =>
  frame.type === "head" && ["completed", "failed", "cancelled"].includes(frame.view.status);
export const upTo = (last: number): number[] => Array.from({ length: last + 1 }, (_, version) => version);
