import type { CallOptions, Client, ClientOptions, ExecutionCalls } from "./client.ts";
import { type ClientTime, systemTime } from "./client-time.ts";
import { followStream, type StreamSource } from "./follow-stream.ts";
import { idInPath } from "./id-in-path.ts";
import { queryText } from "./query-text.ts";
import { answerOf } from "./read-answer.ts";
import { type RequestSender, requestSender } from "./send-request.ts";
import type { ExecutionView } from "./wire/execution-views.ts";

/**
 * Makes a client of the HTTP API, for browsers, Node.js, Bun, Deno and workers. It keeps no connection open except those of streams, so there
 * is nothing to close.
 *
 * ```ts
 * import { createClient } from "stepfold/client";
 *
 * const client = createClient({ url: "https://flows.example.com", token: process.env.FLOWS_TOKEN });
 * await client.executions.start({ workflow: "order", id: "order-1001", input: { total: 49.98 } });
 * const { items } = await client.executions.list({ status: ["paused", "error"], metadata: { region: "eu" } });
 * ```
 */
export function createClient(options: ClientOptions): Client {
  return clientIn(systemTime, options);
}

/** Makes a client whose streams wait by the clock and the timers that are given. */
export function clientIn(time: ClientTime, options: ClientOptions): Client {
  const source = { send: requestSender(options, time), time };
  const call = callBy(source.send);
  return {
    executions: executionCalls(source),
    me: (given) => call("/me", given),
    health: (given) => call("/health", given),
    openapi: (given) => call("/openapi.json", given),
    workflows: (given) => call("/workflows", given),
    nodeTypes: (given) => call("/node-types", given),
    definition: (hash, given) => call(pathOf`/definitions/${hash}`, given),
    stream: (query, given) => followStream(source, query, given),
  };
}

function executionCalls(source: StreamSource): ExecutionCalls {
  const { send } = source;
  const call = callBy(send);
  /** The entity tags of the views that `get` has returned. */
  const tags = new WeakMap<ExecutionView, string>();
  return {
    list: (query, given) => call(`/executions${queryText(query)}`, given),
    async get(id, { known, signal } = {}) {
      const knownTag = known && tags.get(known);
      const response = await send({ path: pathOf`/executions/${id}`, headers: knownTag ? { "if-none-match": knownTag } : {}, signal });
      if (knownTag && known && response.status === 304) return known;
      const view = await answerOf<ExecutionView>(response, signal);
      const tag = response.headers.get("etag");
      if (tag) tags.set(view, tag);
      return view;
    },
    events: (id, query, given) => call(pathOf`/executions/${id}/events` + queryText(query), given),
    snapshot: (id, query, given) => call(pathOf`/executions/${id}/snapshot` + queryText(query), given),
    step: (id, version, given) => call(pathOf`/executions/${id}/steps/${version}`, given),
    waits: (id, query, given) => call(pathOf`/executions/${id}/waits` + queryText(query), given),
    definition: (id, query, given) => call(pathOf`/executions/${id}/definition` + queryText(query), given),
    start: (request, given) => call("/executions", given, request),
    answer: (id, request, given) => call(pathOf`/executions/${id}/answer`, given, request),
    signal: (id, request, given) => call(pathOf`/executions/${id}/signal`, given, request),
    cancel: (id, request = {}, given) => call(pathOf`/executions/${id}/cancel`, given, request),
    retry: (id, request = {}, given) => call(pathOf`/executions/${id}/retry`, given, request),
    restart: (id, request = {}, given) => call(pathOf`/executions/${id}/restart`, given, request),
    watch: (id, { view, ...given } = {}) => followStream(source, { executions: [id], view }, given),
    watchList: (list = {}, given) => followStream(source, { list }, given),
  };
}

/** Makes one request and reads its answer. */
type Call = <T>(path: string, options?: CallOptions, body?: object) => Promise<T>;

function callBy(send: RequestSender): Call {
  return async (path, { signal } = {}, body) => answerOf(await send({ path, body, signal }), signal);
}

/** A path with values in it that may be any text. */
function pathOf(texts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return String.raw({ raw: texts }, ...values.map((value) => idInPath(String(value))));
}
