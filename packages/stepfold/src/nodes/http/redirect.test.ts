import { describe, expect, it } from "vitest";
import { httpRequest } from "./http-request.ts";
import { redirected, redirectTo } from "./redirect.ts";

const request = (method: "GET" | "HEAD" | "POST" | "PUT"): ReturnType<typeof httpRequest> =>
  httpRequest(
    {
      url: "https://a.example/start",
      method,
      headers: { authorization: "Bearer s", cookie: "c=1", "x-api-key": "k", "x-anything": "1", accept: "text/csv", "user-agent": "me" },
      ...(method === "POST" || method === "PUT" ? { body: { text: "hi" } } : {}),
    },
    "w/0#1",
  );

describe("redirectTo", () => {
  it.each([301, 302, 303, 307, 308])("takes a %i with a location for a redirect", (status) => {
    expect([redirectTo(status, "/x"), redirectTo(status, undefined)]).toEqual(["/x", null]);
  });

  it.each([200, 201, 300, 304, 305, 404])("takes a %i for an answer, also with a location", (status) => {
    expect(redirectTo(status, "/x")).toBeNull();
  });
});

describe("redirected", () => {
  it.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "POST", "GET"],
    [303, "PUT", "GET"],
    [301, "PUT", "PUT"],
    [307, "POST", "POST"],
    [308, "PUT", "PUT"],
    [303, "HEAD", "HEAD"],
    [302, "GET", "GET"],
  ] as const)("after a %i makes of %s a %s", (status, before, after) => {
    const next = redirected(request(before), status, "/next");
    expect([next.method, next.url.href]).toEqual([after, "https://a.example/next"]);
    const keepsBody = after === "POST" || after === "PUT";
    expect([next.body?.toString(), next.headers.has("content-type"), next.headers.has("idempotency-key")]).toEqual(
      keepsBody ? ["hi", true, true] : [undefined, false, false],
    );
  });

  it("keeps every header within the origin", () => {
    const headers = Object.fromEntries(redirected(request("GET"), 302, "other?x=1").headers);
    expect(headers).toMatchObject({ authorization: "Bearer s", cookie: "c=1", "x-api-key": "k", "x-anything": "1" });
  });

  it.each([
    "https://b.example/",
    "http://a.example/",
    "https://a.example:8443/",
    "https://www.a.example/",
    "//b.example/",
  ])("sends no header to %s that could be a credential", (location) => {
    const { headers } = redirected(request("GET"), 307, location);
    expect([...headers.keys()].sort()).toEqual(["accept", "accept-encoding", "user-agent"]);
  });

  it.each([
    [307, "POST"],
    [308, "PUT"],
    [301, "PUT"],
  ] as const)("F14: after a %i does not take the body of a %s to another origin", (status, method) => {
    expect(() => redirected(request(method), status, "https://b.example/")).toThrow(
      expect.objectContaining({ code: "HTTP_REDIRECT", "~fatal": true, message: expect.stringContaining("https://b.example") }),
    );
  });

  it("does not give credentials back when the way leads home again", () => {
    const away = redirected(request("GET"), 302, "https://b.example/");
    expect(redirected(away, 302, "https://a.example/").headers.has("authorization")).toBe(false);
  });

  it.each(["file:///etc/passwd", "https://u:p@b.example/", "http://", "javascript:1"])("does not follow to %s", (location) => {
    expect(() => redirected(request("GET"), 302, location)).toThrow(expect.objectContaining({ code: "HTTP_REDIRECT", "~fatal": true }));
  });
});
