import type { WorkflowDefinition } from "../core/definition/definition.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { NodeTypeInfo } from "../engine/workflow/describe-node-type.ts";
import type {
  AnswerBody,
  Applied,
  CancelBody,
  RestartBody,
  RestartReply,
  RetryBody,
  SignalBody,
  StartBody,
  StartReply,
} from "./wire/commands.ts";
import type { HealthView, MeView, WorkflowList } from "./wire/descriptions.ts";
import type {
  ExecutionFilter,
  ExecutionListQuery,
  ExecutionPage,
  ExecutionView,
  HistoryPage,
  HistoryQuery,
  StepView,
  WaitPage,
} from "./wire/execution-views.ts";
import type { StreamFrame, StreamQuery } from "./wire/frames.ts";

/** The options of `createClient`. */
export interface ClientOptions {
  /** Where the server is, without `/v1`: `https://flows.example.com`. In browsers, empty text is the origin of the page. */
  readonly url: string;
  /**
   * The bearer token, or a function that gives one. The function is called before the first request, and once more if the server refuses its
   * token (401); then the request is made again. An error that it throws goes to the caller of the method. Default: no token.
   */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Makes the requests, instead of the global `fetch`. It must obey the `signal` of the request. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call: it rejects with the reason of the signal. `AbortSignal.timeout(5_000)` limits the time. Default: no limit. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `executions.get`. */
export interface GetOptions extends CallOptions {
  /** What `get` has returned before for this execution. The same object is returned if nothing has changed: then nothing is transferred. */
  readonly known?: ExecutionView | undefined;
}

/** The options of a stream. */
export interface StreamOptions {
  /** The `id` of a frame: the stream of the same query begins behind this frame. Default: from the first event of each execution. */
  readonly after?: string | undefined;
  /** Ends the stream, as if the loop were left. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `executions.watch`. */
export interface WatchOptions extends StreamOptions {
  /** `brief`: events without their values. Default: `full` with the scope `values`, for executions of at most 4 MiB. */
  readonly view?: "brief" | "full" | undefined;
}

/** A frame, and where it stands in its stream. */
export type PositionedFrame = StreamFrame & {
  /** Begins another stream of the same query behind this frame: see `StreamOptions.after`. Absent: nothing was told so far that has a position. */
  readonly id?: string;
};

/** Which of the open waits to read. */
export interface WaitsQuery {
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** The most waits of a page. Default: as the server decides. */
  readonly limit?: number | undefined;
  /** Only waits at this address, such as `pack[3]/ask`. */
  readonly address?: string | undefined;
}

/** Reads and moves executions. Their ids may be any text. */
export interface ExecutionCalls {
  /** Finds executions, the newest first, in pages. */
  list(query?: ExecutionListQuery, options?: CallOptions): Promise<ExecutionPage>;
  /** Returns the state of an execution: its status, what it waits for, who can move it. @throws RequestError `WORKFLOW_NOT_FOUND` */
  get(id: string, options?: GetOptions): Promise<ExecutionView>;
  /** Returns a part of the history. @throws RequestError `WORKFLOW_NOT_FOUND` */
  events(id: string, query?: HistoryQuery, options?: CallOptions): Promise<HistoryPage>;
  /**
   * Returns the snapshot, or that of an earlier version.
   * @throws RequestError `WORKFLOW_NOT_FOUND`, `LIMIT_EXCEEDED` if it is too large to be sent
   */
  snapshot(id: string, query?: { readonly version?: number | undefined }, options?: CallOptions): Promise<Snapshot>;
  /** Returns the event that made a version, and what the step had read if it is that of a step. @throws RequestError `WORKFLOW_NOT_FOUND` */
  step(id: string, version: number, options?: CallOptions): Promise<StepView>;
  /** Returns open waits in pages. @throws RequestError `WORKFLOW_NOT_FOUND` */
  waits(id: string, query?: WaitsQuery, options?: CallOptions): Promise<WaitPage>;
  /**
   * Returns the definition that the execution runs with, or with `hash` the one that an earlier run had.
   * @throws RequestError `WORKFLOW_NOT_FOUND`, `DEFINITION_MISSING`
   */
  definition(id: string, query?: { readonly hash?: string | undefined }, options?: CallOptions): Promise<WorkflowDefinition>;
  /**
   * Starts an execution. With an id it can be repeated safely, for example after `CONNECTION_LOST`.
   *
   * ```ts
   * const { isNew } = await client.executions.start({ workflow: "order", id: "order-1001", input: { total: 49.98 } });
   * ```
   *
   * @throws RequestError `START_CONFLICT` if the id is taken by another start, `INPUT_INVALID`, `DEFINITION_UNKNOWN`
   */
  start(request: StartBody, options?: CallOptions): Promise<StartReply>;
  /**
   * Answers an open wait.
   * @throws RequestError `WAIT_GONE`, `WAIT_EXPIRED`, `RESUME_AMBIGUOUS`, `RESUME_INVALID`, `RESPONDER_DENIED`, `WORKFLOW_NOT_FOUND`
   */
  answer(id: string, request: AnswerBody, options?: CallOptions): Promise<Applied>;
  /** Sends a signal, which is kept for a time if nothing waits for it yet. @throws RequestError `RESUME_INVALID`, `WORKFLOW_NOT_FOUND` */
  signal(id: string, request: SignalBody, options?: CallOptions): Promise<Applied>;
  /** Cancels the execution, or the paths of a step, or an item. @throws RequestError `EXECUTION_ENDED`, `WORKFLOW_NOT_FOUND` */
  cancel(id: string, request?: CancelBody, options?: CallOptions): Promise<void>;
  /** Makes a pending retry at once. @throws RequestError `RETRY_NOT_PENDING`, `WORKFLOW_NOT_FOUND` */
  retry(id: string, request?: RetryBody, options?: CallOptions): Promise<void>;
  /** Opens an execution again that has failed or was cancelled. @throws RequestError `RESTART_COMPENSATED`, `WORKFLOW_NOT_FOUND` */
  restart(id: string, request?: RestartBody, options?: CallOptions): Promise<RestartReply>;
  /**
   * Follows one execution: `client.stream` for it alone. The stream ends by itself when the execution no longer exists.
   *
   * ```ts
   * for await (const frame of client.executions.watch("order-1001")) {
   *   if (frame.type === "head" && frame.view.status === "completed") break;
   * }
   * ```
   */
  watch(id: string, options?: WatchOptions): AsyncGenerator<PositionedFrame, void, undefined>;
  /** Follows the newest executions that match: `client.stream` for a list alone. */
  watchList(query?: ExecutionFilter, options?: StreamOptions): AsyncGenerator<PositionedFrame, void, undefined>;
}

/**
 * The calls of the HTTP API. All of them reject with a `RequestError`: besides the codes that are named, `UNAUTHENTICATED`, `FORBIDDEN`,
 * `RATE_LIMITED`, `STORE_UNAVAILABLE`, `CONNECTION_LOST` and `UNEXPECTED_ANSWER` can come from every call.
 */
export interface Client {
  readonly executions: ExecutionCalls;
  /** Returns who the caller is and what they may do, and what the store can do. */
  me(options?: CallOptions): Promise<MeView>;
  /** Returns whether the server and its store answer. Anybody may ask. */
  health(options?: CallOptions): Promise<HealthView>;
  /** Returns the description of the API in OpenAPI 3.1. Anybody may ask. */
  openapi(options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /** Returns the workflows that can be started, and the definitions in the store. */
  workflows(options?: CallOptions): Promise<WorkflowList>;
  /** Returns the node types whose code the server has. */
  nodeTypes(options?: CallOptions): Promise<{ readonly nodeTypes: readonly NodeTypeInfo[] }>;
  /** Returns the definition with this hash. @throws RequestError `DEFINITION_UNKNOWN` */
  definition(hash: string, options?: CallOptions): Promise<WorkflowDefinition>;
  /**
   * Follows executions, a list, or both, over one connection. If this breaks, or nothing comes for 40 seconds, the stream waits between half a
   * second and 15 seconds, connects again, and goes on behind the last frame; a frame `link` tells of each connection and of each break. Every
   * event is told once. To read a frame late is safe: the server is slowed down, and no frame is lost.
   *
   * It ends when the loop is left, when `signal` is aborted, or when no execution of the query exists any more and it has no list; the request
   * ends at once. It throws a `RequestError` if the server refuses it with a status from 400 to 499, except 408, 425 and 429, or if what comes
   * is no stream of this API.
   *
   * ```ts
   * for await (const frame of client.stream({ executions: ["order-1001"], list: { status: "failed" } })) {
   *   if (frame.type === "event") console.log(frame.execution, frame.event.type);
   *   if (frame.type === "list") console.log(frame.upsert.length, "rows have changed");
   *   if (frame.type === "link" && !frame.isLive) console.log("again in", frame.againInMs, "ms");
   * }
   * ```
   */
  stream(query: StreamQuery, options?: StreamOptions): AsyncGenerator<PositionedFrame, void, undefined>;
}
