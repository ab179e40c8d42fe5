import { systemEnvironment } from "stepfold";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServer, type Principal, type RouteInfo } from "../src/index.ts";
import { everyScope, served, tokenOf } from "./served.fixture.ts";

/** The routes that anybody may call. A route that is not in this list needs credentials. */
const publicRoutes = ["GET /v1/health", "GET /v1/openapi.json"];

const nameOf = ({ method, path }: RouteInfo): string => `${method} ${path}`;
const pathOf = ({ path }: RouteInfo): string => path.replace(":id", "order-7").replace(":part", "1");

/** People with every scope but one. */
const butOne = everyScope.map((missing) => ({ name: `not-${missing}`, scopes: everyScope.filter((scope) => scope !== missing) }));

const { server } = await createUnserved();
async function createUnserved() {
  const { createRuntime } = await import("stepfold/runtime");
  const { memoryStore } = await import("stepfold/stores/memory");
  const store = memoryStore();
  return { server: createServer({ runtime: createRuntime({ store, drive: false }), store, auth: () => null }) };
}

describe("rights", () => {
  it("has routes to judge, and the public ones are those of the list", () => {
    expect(server.routes.length).toBeGreaterThan(18);
    expect(server.routes.filter(({ scope }) => scope === null).map(nameOf)).toEqual(publicRoutes);
  });

  it.each(server.routes.map((route) => [nameOf(route), route] as const))("%s", async (name, route) => {
    const { ask } = await served({ people: [{ name: "ada" }, ...butOne] });
    const call = { method: route.method, ...(route.method === "POST" && { body: {} }) };
    const path = pathOf(route);

    const nobody = await ask(path, { ...call, as: null });
    if (publicRoutes.includes(name)) expect(nobody.status).toBe(200);
    else {
      expect(nobody.status).toBe(401);
      expect(nobody.body).toMatchObject({ code: "UNAUTHENTICATED", requestId: expect.any(String) });
      expect(nobody.headers.get("www-authenticate")).toBe("Bearer");
    }
    const wrong = await ask(path, { ...call, as: null, headers: { authorization: `Bearer ${tokenOf("eve")}` } });
    expect(wrong.status).toBe(publicRoutes.includes(name) ? 200 : 401);

    if (route.scope !== null) {
      const lacking = await ask(path, { ...call, as: `not-${route.scope}` });
      expect(lacking.status).toBe(403);
      expect(lacking.body).toMatchObject({
        code: "FORBIDDEN",
        detail: expect.stringContaining(`\`${route.scope}\``),
        details: { scope: route.scope },
      });
    }
    const otherHost = await ask(path, { ...call, headers: { host: "evil.example" } });
    expect([otherHost.status, otherHost.body.code]).toEqual([421, "HOST_REFUSED"]);
    const otherOrigin = await ask(path, { ...call, headers: { origin: "https://evil.example" } });
    expect([otherOrigin.status, otherOrigin.body.code]).toEqual([403, "FORBIDDEN"]);
    expect(otherOrigin.headers.get("access-control-allow-origin")).toBe(null);
    const otherKey = await ask(`${path}?statuss=failed`, call);
    expect([otherKey.status, otherKey.body.code]).toEqual([400, "OPTION_UNKNOWN"]);
    expect(otherKey.body.details).toMatchObject({ option: "statuss" });
    const otherMethod = await ask(path, { method: "DELETE" });
    expect([otherMethod.status, otherMethod.body.code]).toEqual([405, "METHOD_NOT_ALLOWED"]);
    expect(otherMethod.headers.get("allow")).toContain(route.method);
  });

  it("has security headers on every answer, and a request id that the problem has too", async () => {
    const { ask } = await served();
    for (const path of ["/v1/me", "/v1/executions/none", "/nowhere", "/v1/nowhere"]) {
      const { headers, body } = await ask(path);
      expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cache-control")).toBe("no-store");
      if (body.code !== undefined) expect(body.requestId).toBe(headers.get("x-request-id"));
    }
  });

  it.each([
    "/v1/executions/a%2Fb",
    "/v1/executions//events",
    "/v1//executions",
    "/v1/executions/%00",
    "/v1/executions/~",
    "/v1/executions/~***",
    "/v1/executions/~_w",
    "/v1/executions/-a",
  ])("refuses the path %s", async (path) => {
    const { ask } = await served({ studio: () => new Response("a page") });
    const { status, body } = await ask(path);
    expect([status, body.code]).toEqual([400, "REQUEST_INVALID"]);
  });

  it("judges the token as a whole, in time, and only if it is a bearer token", async () => {
    const { ask } = await served({
      people: [{ name: "ada" }, { name: "old", expires: Date.now() - 1 }, { name: "new", expires: Date.now() + 60_000 }],
    });
    const status = async (authorization: string): Promise<number> => (await ask("/v1/me", { as: null, headers: { authorization } })).status;
    expect(await status(`Bearer ${tokenOf("ada")}`)).toBe(200);
    expect(await status(`bearer   ${tokenOf("ada")} `)).toBe(200);
    expect(await status(`Bearer ${tokenOf("new")}`)).toBe(200);
    expect(await status(`Bearer ${tokenOf("old")}`)).toBe(401);
    expect(await status(`Basic ${tokenOf("ada")}`)).toBe(401);
    expect(await status(`Bearer ${tokenOf("ada").slice(0, -1)}`)).toBe(401);
    expect(await status(`Bearer ${tokenOf("ada")}${"x".repeat(100_000)}`)).toBe(401);
    expect(await status("Bearer ")).toBe(401);
  });

  it("refuses expired credentials of whatever kind, by the clock of the server", async () => {
    let now = 1_000_000;
    const environment = { ...systemEnvironment, now: () => now };
    const problems: unknown[] = [];
    const { runtime, store } = await served();
    const statusOf = async (expiresAt: unknown, path = "/v1/me"): Promise<number> => {
      const auth = (): Principal => ({ id: "x", scopes: ["read"], ...({ expiresAt } as object) });
      const all = createServer({ runtime, store, auth, environment, onProblem: (error) => problems.push(error) });
      onTestFinished(() => all.close());
      const { status, headers } = await all.fetch(new Request(`http://localhost${path}`, { headers: { host: "localhost" } }));
      if (status === 401) expect(headers.get("www-authenticate")).toBe("Bearer");
      return status;
    };
    for (const path of ["/v1/me", "/v1/executions", "/v1/stream?list=1"]) {
      expect(await statusOf(now - 1, path)).toBe(401);
      expect(await statusOf(now, path)).toBe(401);
      expect(await statusOf(now + 1, path)).toBe(200);
    }
    expect([await statusOf(undefined), await statusOf(Number.POSITIVE_INFINITY)]).toEqual([200, 200]);
    now += 10;
    expect(await statusOf(1_000_005)).toBe(401);
    // what is no time must not count as one that never comes
    for (const wrong of [Number.NaN, "2099-01-01T00:00:00Z", null]) expect(await statusOf(wrong)).toBe(500);
    expect(problems.map(String)).toEqual(Array(3).fill(expect.stringContaining("expiresAt")));
  });

  it("lets pages of listed origins call, and no others", async () => {
    const { ask, send } = await served({ cors: { origins: ["https://app.example.com"] }, hosts: ["studio.example.com"] });
    const origin = "https://app.example.com";
    const asked = await send("/v1/executions", {
      as: null,
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
    expect(asked.headers.get("access-control-allow-headers")).toContain("authorization");
    const { headers, status } = await ask("/v1/me", { headers: { origin } });
    expect([status, headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([200, origin, "origin"]);
    expect(headers.get("access-control-allow-credentials")).toBe(null);
    expect((await ask("/v1/me", { headers: { origin: "http://localhost" } })).status).toBe(200);
    expect((await ask("/v1/me", { headers: { host: "Studio.example.com:443" } })).status).toBe(200);
    for (const other of ["null", "https://app.example.com.evil.example", "http://localhost.evil.example", "not an origin"])
      expect((await ask("/v1/me", { headers: { origin: other } })).status).toBe(403);
  });

  it("takes JSON bodies only, and counts their bytes", async () => {
    const { ask } = await served();
    const start = (body: string, type: string | null): Promise<{ status: number; body: { code: string } }> =>
      ask("/v1/executions", { method: "POST", body, headers: { ...(type !== null && { "content-type": type }) } });
    const good = JSON.stringify({ workflow: "double", input: { n: 1 } });
    expect((await start(good, "application/json; charset=utf-8")).status).toBe(201);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "multipart/form-data"])
      expect((await start(good, type)).body.code).toBe("MEDIA_TYPE");
    expect((await start("{", "application/json")).body.code).toBe("REQUEST_INVALID");
    expect((await start("[]", "application/json")).body.code).toBe("REQUEST_INVALID");
    expect((await start("null", "application/json")).body.code).toBe("REQUEST_INVALID");
    const large = await start(JSON.stringify({ workflow: "double", input: { n: 1, text: "x".repeat(3_000_000) } }), "application/json");
    expect([large.status, large.body.code]).toEqual([413, "BODY_TOO_LARGE"]);
    expect((await start('{"workflow":"double","__proto__":{"id":"x"}}', "application/json")).body.code).toBe("OPTION_UNKNOWN");
  });

  it("limits requests of a caller, and wrong credentials of an address", async () => {
    const address = (request: Request): string => request.headers.get("x-address") ?? "";
    const { ask } = await served({ people: [{ name: "ada" }, { name: "bob" }], maxRequestsPerMinute: 20, clientAddress: address });
    let statuses = await Promise.all(Array.from({ length: 25 }, () => ask("/v1/me")));
    // the minute may end meanwhile
    if (statuses.every(({ status }) => status === 200)) statuses = await Promise.all(Array.from({ length: 25 }, () => ask("/v1/me")));
    const refused = statuses.find(({ status }) => status !== 200)!;
    expect([refused.status, refused.body.code, refused.body.retryable]).toEqual([429, "RATE_LIMITED", true]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await ask("/v1/me", { as: "bob" })).status).toBe(200);
    const wrong = { as: null, headers: { authorization: `Bearer ${tokenOf("eve")}`, "x-address": "1.2.3.4" } };
    const codes = new Set<number>();
    for (let i = 0; i < 130; i++) codes.add((await ask("/v1/me", wrong)).status);
    expect([...codes]).toEqual([401, 429]);
    expect((await ask("/v1/me", { ...wrong, headers: { ...wrong.headers, "x-address": "1.2.3.5" } })).status).toBe(401);
  });
});
