import type { Environment, ListQuery } from "stepfold";
import { MinuteCounter } from "../guard/minute-counter.ts";
import { OpenCounter } from "../guard/open-counter.ts";
import { callerName, type Principal } from "../guard/principal.ts";
import { RefusedRequest } from "../guard/problem.ts";
import { FrameStream } from "../live/frame-stream.ts";
import { followExecution, positionsOf, Topic } from "../live/topic.ts";
import { oneOf, text, texts } from "../requests/query-key.ts";
import { rowFor } from "../views/row.ts";
import { type FilterQuery, filterKeys, storeQuery } from "./list-query.ts";
import { type Call, type Route, route } from "./route.ts";

/** The most executions of one stream. */
const maxExecutions = 20;
/** After this time a stream ends, and its client comes back at once: then its credentials are looked at again. */
const maxStreamMs = 15 * 60_000;
/** How many streams a caller may open in a minute, and how many it may have at once. */
const maxOpenedPerMinute = 300;
const maxOpen = 300;
/** How many of them may tell of lists. There are 200 lists for all callers together, and one must not take them all. */
const maxOpenLists = 100;

interface StreamQuery extends FilterQuery {
  readonly execution: readonly string[];
  readonly list: "1";
  readonly view: "brief" | "full";
}

/** Makes the route of streams. */
export function streamRoute(environment: Environment): Route {
  const limits = new StreamLimits(environment);
  return route<StreamQuery, unknown>({
    method: "GET",
    path: "/v1/stream",
    scope: "read",
    summary: "Tells what happens to executions, or in a list, as server-sent events.",
    answers: { 200: "Frames, until the client goes. With the header `last-event-id` it goes on behind that frame." },
    query: {
      ...filterKeys,
      execution: texts("The id of an execution.", maxExecutions),
      list: oneOf("Also tells of the executions that the other keys select.", ["1"]),
      view: oneOf(
        "`full`: events with all values. Default: as much as the caller may see; without values where there are more than 4 MiB of them.",
        ["brief", "full"],
      ),
      signal: text("The name of the signal that is waited for."),
    },
    takesMetadata: true,
    async run(call) {
      const { request, who, query, sees, site } = call;
      const { list, view } = query;
      const ids = [...new Set(query.execution)];
      if (view === "full" && !sees.values)
        throw new RefusedRequest("FORBIDDEN", "Values of events need the scope `values`.", {}, { scope: "values" });
      if (ids.length === 0 && list === undefined)
        throw new RefusedRequest("REQUEST_INVALID", "Name an execution, or ask for a list (list=1).");
      const headers = { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" };
      // nobody would read what is told
      if (request.method === "HEAD") return new Response(null, { headers });
      const asked = list === undefined ? null : storeQuery(query, call.search);
      await site.now();
      const release = limits.open(who, asked !== null);
      const stream = new FrameStream(environment);
      stream.onEnd(release);
      site.opened(stream);
      endInTime(stream, call, environment);
      if (asked && !watchList(stream, call, asked)) {
        stream.close();
        throw tooMany("Too many different lists are looked at.", 30);
      }
      followAll(stream, call, ids, sees.values && view === undefined ? null : view !== "full", environment);
      return new Response(stream.body, { headers });
    },
  });
}

/** How many streams each caller may open, and have open. */
class StreamLimits {
  readonly #opened: MinuteCounter;
  readonly #streams = new OpenCounter(maxOpen);
  readonly #lists = new OpenCounter(maxOpenLists);

  constructor(environment: Environment) {
    this.#opened = new MinuteCounter(maxOpenedPerMinute, () => environment.monotonicMs());
  }

  /** Counts a stream. Returns what takes it back at its end. @throws RefusedRequest `RATE_LIMITED` */
  open(who: Principal, hasList: boolean): () => void {
    const name = callerName(who);
    const waitSeconds = this.#opened.waitSeconds(name);
    if (waitSeconds > 0) throw tooMany("Too many streams were opened.", waitSeconds);
    const releaseStream = this.#streams.open(name);
    if (!releaseStream) throw tooMany("Too many streams are open.", 30);
    const releaseList = hasList ? this.#lists.open(name) : null;
    if (hasList && !releaseList) {
      releaseStream();
      throw tooMany("Too many streams of lists are open.", 30);
    }
    this.#opened.count(name);
    return () => {
      releaseStream();
      releaseList?.();
    };
  }
}

function tooMany(what: string, waitSeconds: number): RefusedRequest {
  return new RefusedRequest("RATE_LIMITED", what, { "retry-after": String(waitSeconds) });
}

function endInTime(stream: FrameStream, { signal, who: { expiresAt } }: Call<StreamQuery>, environment: Environment): void {
  const forMs = Math.min(maxStreamMs, (expiresAt ?? Number.POSITIVE_INFINITY) - environment.now());
  const stop = environment.after(Math.max(0, forMs), () => stream.close(), { background: true });
  const close = (): void => stream.close();
  signal.addEventListener("abort", close);
  stream.onEnd(() => {
    stop();
    signal.removeEventListener("abort", close);
  });
  if (signal.aborted) close();
}

function followAll(
  stream: FrameStream,
  { request, runtime, site, sees }: Call<StreamQuery>,
  ids: readonly string[],
  isBrief: boolean | null,
  environment: Environment,
): void {
  const known = positionsOf(request.headers.get("last-event-id"), ids.length);
  const topics = ids.map((id, index) => new Topic(id, known[index]!));
  const position = (): string => topics.map((topic) => topic.position).join(",");
  for (const topic of topics) void followExecution({ topic, stream, runtime, tails: site.tails, sees, isBrief, position, environment });
}

/** Tells of a list. False: there are too many lists. */
function watchList(stream: FrameStream, { who, runtime, site, sees }: Call<StreamQuery>, query: ListQuery): boolean {
  const leave = site.lists.watch(
    { name: JSON.stringify([who.tenant ?? null, query]), runtime, query },
    {
      change({ upsert, gone }) {
        stream.send({ type: "list", upsert: upsert.map((row) => rowFor(sees, row)), gone, storeNow: site.storeNow() });
      },
      problem: (code) => stream.send({ type: "problem", code }),
    },
  );
  if (leave) stream.onEnd(leave);
  return leave !== null;
}
