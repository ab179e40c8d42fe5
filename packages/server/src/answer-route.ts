import { systemEnvironment } from "stepfold";
import type { MinuteCounter } from "./guard/minute-counter.ts";
import { anybody, callerName, checkedPrincipal, hasExpired, localPrincipal, type Principal } from "./guard/principal.ts";
import { problemOf, RefusedRequest } from "./guard/problem.ts";
import { readMembers } from "./requests/members.ts";
import { executionIdOf } from "./requests/path.ts";
import { readQuery } from "./requests/query-key.ts";
import { readBody } from "./requests/read-body.ts";
import type { Call, Route } from "./routes/route.ts";
import type { ServerOptions } from "./server-options.ts";
import type { Site } from "./site.ts";
import { audienceOf } from "./views/audience.ts";

/** What all routes share. */
export interface Answering {
  readonly options: ServerOptions;
  readonly requests: MinuteCounter;
  readonly failures: MinuteCounter;
  siteOf(tenant: string | undefined): Site;
}

/** A request, with the parts of its path. */
export interface RoutedRequest {
  readonly request: Request;
  readonly requestId: string;
  readonly id: string;
  readonly part: string;
}

/** Answers a request to a route: finds out who asks, whether they may, and what they ask, before the route does anything. */
export async function answerRoute(route: Route, asked: RoutedRequest, answering: Answering): Promise<Response> {
  let who = anybody;
  try {
    if (route.scope !== null) {
      who = await callerOf(asked.request, answering);
      limitRequests(who, answering.requests);
      if (!who.scopes.includes(route.scope))
        throw new RefusedRequest(
          "FORBIDDEN",
          `This needs the scope \`${route.scope}\`, which the caller lacks.`,
          {},
          { scope: route.scope },
        );
    }
    return await route.run(await callOf(route, asked, who, answering));
  } catch (error) {
    return problemOf(error, { requestId: asked.requestId, scopes: who.scopes, onProblem: answering.options.onProblem });
  }
}

/** Reads what is asked for. @throws StepfoldError, RefusedRequest */
async function callOf(route: Route, { request, id, part }: RoutedRequest, who: Principal, { siteOf, options }: Answering): Promise<Call> {
  const search = new URL(request.url).searchParams;
  const name = `${route.method} ${route.path}`;
  const query = readQuery(route.query ?? {}, search, name, route.takesMetadata);
  const body = route.method === "POST" ? readMembers(route.members ?? {}, await readBody(request), name) : {};
  const site = siteOf(who.tenant);
  // a tenant with a store of its own has executions without a tenant
  const tenant = options.tenants ? undefined : who.tenant;
  const caller = { ...(tenant !== undefined && { tenant }), ...(who.id !== "" && { by: who.id }) };
  return {
    ...{ request, who, site, part, query, search, body, signal: request.signal, sees: audienceOf(who) },
    notice: () => options.notice?.() ?? null,
    id: id === "" ? "" : executionIdOf(id),
    runtime: site.runtime.scoped(caller),
  };
}

async function callerOf(request: Request, { options, failures }: Answering): Promise<Principal> {
  const { auth, clientAddress, environment = systemEnvironment } = options;
  if (auth === "off") return localPrincipal;
  const address = clientAddress?.(request) ?? null;
  const waitSeconds = address === null ? 0 : failures.waitSeconds(address);
  if (waitSeconds > 0)
    throw new RefusedRequest("RATE_LIMITED", "Too many wrong credentials came from this address.", { "retry-after": String(waitSeconds) });
  const who = await auth(request);
  const known = who && checkedPrincipal(who);
  if (known && !hasExpired(known, environment.now())) return known;
  if (address !== null) failures.count(address);
  throw new RefusedRequest("UNAUTHENTICATED", "Send a token that counts as `Authorization: Bearer TOKEN`.", {
    "www-authenticate": "Bearer",
  });
}

function limitRequests(who: Principal, requests: MinuteCounter): void {
  const name = callerName(who);
  const waitSeconds = requests.waitSeconds(name);
  if (waitSeconds > 0) throw new RefusedRequest("RATE_LIMITED", "Too many requests in a minute.", { "retry-after": String(waitSeconds) });
  requests.count(name);
}
