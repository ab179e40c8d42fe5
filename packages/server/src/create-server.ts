import { Hono } from "hono";
import { systemEnvironment } from "stepfold";
import type { FetchHandler } from "stepfold/webhooks";
import { type Answering, answerRoute } from "./answer-route.ts";
import { MinuteCounter } from "./guard/minute-counter.ts";
import { checkOrigin, corsHeaders, preflight } from "./guard/origin.ts";
import { problemOf, RefusedRequest } from "./guard/problem.ts";
import { openApi } from "./openapi/open-api.ts";
import { checkPath } from "./requests/path.ts";
import { commandRoutes } from "./routes/commands.ts";
import { descriptionRoutes } from "./routes/descriptions.ts";
import { executionListRoutes } from "./routes/execution-list.ts";
import { executionReadRoutes } from "./routes/execution-reads.ts";
import { json, type Route, route } from "./routes/route.ts";
import { streamRoute } from "./routes/stream.ts";
import { checkServerOptions, type ServerOptions } from "./server-options.ts";
import { openSite, type Site } from "./site.ts";

/** What is known of a route from outside. */
export type RouteInfo = Pick<Route, "method" | "path" | "scope" | "summary">;

/** The HTTP API of a runtime. */
export interface Server {
  /** Answers a request. Works on every platform that has web requests and responses; on Node, `listen` of `@stepfold/server/node` calls it. */
  readonly fetch: FetchHandler;
  /** The routes, with the scope that each needs. A route with the scope null is public. */
  readonly routes: readonly RouteInfo[];
  /** False: every caller may do everything, without a token, so the server must listen on loopback only. */
  readonly hasAuth: boolean;
  /** Ends all streams and timers. Requests after this are refused with 503. The runtime and the store stay open. */
  close(): void;
}

const maxFailuresPerMinute = 60;
/** The most tenants with stores of their own whose sites are kept open. */
const maxSites = 1_000;

/** Headers of every answer. The API has no pages: a browser that shows an answer runs nothing of it. */
const commonHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/**
 * Makes the HTTP API of a runtime: to start, list, watch, answer and move executions. Every route but `/v1/health` and `/v1/openapi.json`
 * needs credentials and a scope.
 *
 * ```ts
 * import { createServer, tokens } from "@stepfold/server";
 * import { listen } from "@stepfold/server/node";
 *
 * const server = createServer({ runtime, store, auth: tokens([{ sha256, name: "ada", scopes: ["read", "values", "answer"] }]) });
 * const { url, close } = await listen(server);
 * ```
 *
 * Errors are problem details (RFC 9457) with the codes of StepfoldError, or with codes of the server: UNAUTHENTICATED, FORBIDDEN, NOT_FOUND,
 * HOST_REFUSED, MEDIA_TYPE, BODY_TOO_LARGE, RATE_LIMITED and others. Repeating a request is safe: starts count by their ids, answers and
 * signals by their idempotency keys.
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function createServer(options: ServerOptions): Server {
  checkServerOptions(options);
  const {
    auth,
    environment = systemEnvironment,
    studio,
    onProblem,
    hosts = [],
    cors = { origins: [] },
    maxRequestsPerMinute = 600,
  } = options;
  const sites = sitesOf(options);
  let isClosed = false;
  const answering: Answering = {
    ...{ options, siteOf: sites.of },
    requests: new MinuteCounter(maxRequestsPerMinute, () => environment.monotonicMs()),
    failures: new MinuteCounter(maxFailuresPerMinute, () => environment.monotonicMs()),
  };
  const routes = [...descriptionRoutes, ...executionListRoutes, ...executionReadRoutes, ...commandRoutes, streamRoute(environment)];
  routes.push(descriptionOf(routes));
  const router = routerOf(routes, answering, studio);
  const rules = { hosts: hosts.map((host) => host.toLowerCase()), origins: cors.origins };
  const fetch: FetchHandler = async (request) => {
    const requestId = environment.newId();
    let origin: string | null = null;
    const answer = async (): Promise<Response> => {
      if (isClosed) throw closing();
      origin = checkOrigin(request, rules);
      checkPath(new URL(request.url).pathname);
      if (request.method === "OPTIONS" && origin !== null) return preflight(origin);
      return router.fetch(request, { requestId });
    };
    const response = await answer().catch((error: unknown) => problemOf(error, { requestId, onProblem }));
    return withHeaders(response, { ...commonHeaders, ...corsHeaders(origin), "x-request-id": requestId });
  };
  return {
    fetch,
    routes: routes.map(({ method, path, scope, summary }) => ({ method, path, scope, summary })),
    hasAuth: auth !== "off",
    close() {
      isClosed = true;
      sites.close();
    },
  };
}

/** Opens a site for each tenant that has a store of its own, and one for all others. */
function sitesOf(options: ServerOptions): { of(tenant: string | undefined): Site; close(): void } {
  const { tenants, environment = systemEnvironment } = options;
  const shared = openSite(options, environment);
  /** The site that was asked for last comes last. */
  const own = new Map<string, Site>();
  let isClosed = false;
  return {
    of(tenant) {
      if (tenant === undefined || !tenants) return shared;
      // who asks had to wait for its credentials while the server was closed
      if (isClosed) throw closing();
      const site = own.get(tenant) ?? openSite(tenants(tenant), environment);
      own.delete(tenant);
      own.set(tenant, site);
      const [oldest] = own;
      if (own.size > maxSites && oldest) {
        own.delete(oldest[0]);
        oldest[1].close();
      }
      return site;
    },
    close() {
      isClosed = true;
      for (const site of [shared, ...own.values()]) site.close();
    },
  };
}

function closing(): RefusedRequest {
  return new RefusedRequest("SERVER_CLOSED", "", { "retry-after": "1" });
}

function descriptionOf(routes: readonly Route[]): Route {
  const own: Route = route({
    method: "GET",
    path: "/v1/openapi.json",
    scope: null,
    summary: "Describes this API (OpenAPI 3.1).",
    answers: { 200: "The description." },
    run: () => json(openApi([...routes.filter((one) => one !== own), own])),
  });
  return own;
}

function routerOf(
  routes: readonly Route[],
  answering: Answering,
  studio: ServerOptions["studio"],
): Hono<{ Bindings: { requestId: string } }> {
  const router = new Hono<{ Bindings: { requestId: string } }>();
  for (const one of routes)
    router.on(one.method, one.path, (context) => {
      const { id = "", part = "" } = context.req.param() as Readonly<Record<string, string>>;
      return answerRoute(one, { request: context.req.raw, requestId: context.env.requestId, id, part }, answering);
    });
  for (const path of new Set(routes.map((one) => one.path))) {
    const allow = routes.filter((one) => one.path === path).map(({ method }) => method);
    router.all(path, ({ env }) => problemOf(new RefusedRequest("METHOD_NOT_ALLOWED", "", { allow: allow.join(", ") }), env));
  }
  router.notFound(async ({ req, env }) => {
    const isApi = req.path === "/v1" || req.path.startsWith("/v1/");
    return (isApi ? null : await studio?.(req.raw)) ?? problemOf(new RefusedRequest("NOT_FOUND"), env);
  });
  router.onError((error, { env }) => problemOf(error, { ...env, onProblem: answering.options.onProblem }));
  return router;
}

/** Adds headers that an answer does not have. */
function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  const all = new Headers(response.headers);
  for (const [name, value] of Object.entries(headers)) if (!all.has(name)) all.set(name, value);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers: all });
}
