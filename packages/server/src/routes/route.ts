import type { ApiScope } from "stepfold/client";
import type { ScopedRuntime } from "stepfold/runtime";
import type { Principal } from "../guard/principal.ts";
import type { Members } from "../requests/members.ts";
import type { QueryKeys } from "../requests/query-key.ts";
import type { Site } from "../site.ts";
import type { Audience } from "../views/audience.ts";

/** A request that may be answered: who sends it, and what it asks for. */
export interface Call<Q = unknown, B = unknown> {
  readonly request: Request;
  readonly who: Principal;
  readonly sees: Audience;
  readonly site: Site;
  /** Returns what people should know of the server at the moment. */
  readonly notice: () => string | null;
  /** The calls of the runtime for the caller: of its tenant, in its name. */
  readonly runtime: ScopedRuntime;
  /** Ends when the client has gone. */
  readonly signal: AbortSignal;
  /** The id of the execution in the path; "" if the path has none. */
  readonly id: string;
  /** The other parts of the path that stand for something. */
  readonly part: string;
  readonly query: Partial<Q>;
  /** The whole query, for keys of metadata. */
  readonly search: URLSearchParams;
  readonly body: B;
}

/** A route of the API, as data: the router, the description of the API and the tests of its rights are made from it. */
export interface RouteSpec<Q, B> {
  readonly method: "GET" | "POST";
  /** Below the root of the server. `:id` is the id of an execution, `:part` any other part. */
  readonly path: string;
  /** The scope that a caller needs. Null: the route is public. */
  readonly scope: ApiScope | null;
  /** What it does, as a sentence. */
  readonly summary: string;
  /** The statuses of good answers, and what they mean. */
  readonly answers: Readonly<Record<number, string>>;
  readonly query?: QueryKeys<Q>;
  /** The query may have keys of metadata (`meta.KEY`). */
  readonly takesMetadata?: true;
  /** The members of the body. Absent: there is none. */
  readonly members?: Members<B>;
  run(call: Call<Q, B>): Response | Promise<Response>;
}

/** A route whose types only its own code knows. */
export interface Route extends Omit<RouteSpec<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>>, "run"> {
  run(call: Call): Response | Promise<Response>;
}

/** Makes a route. */
export function route<Q, B>(spec: RouteSpec<Q, B>): Route {
  return { ...(spec as unknown as Route), run: (call) => spec.run(call as Call<Q, B>) };
}

/** A JSON answer, which no cache keeps. */
export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}
