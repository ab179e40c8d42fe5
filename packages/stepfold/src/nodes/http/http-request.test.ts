import { describe, expect, it } from "vitest";
import { sha256 } from "../../core/values/hash/sha256.ts";
import type { HttpData } from "./http-data.ts";
import { httpRequest, labelOf } from "./http-request.ts";

const step = "order-7/0#1";
const key = sha256(step);
const of = (data: Partial<HttpData>): ReturnType<typeof httpRequest> => httpRequest({ url: "https://api.example.com/x", ...data }, step);
const invalid = expect.objectContaining({ code: "HTTP_REQUEST_INVALID", "~fatal": true });

describe("httpRequest", () => {
  it("is a GET without a body where nothing else is said", () => {
    const request = of({});
    expect([request.method, request.url.href, request.body]).toEqual(["GET", "https://api.example.com/x", null]);
    expect(Object.fromEntries(request.headers)).toEqual({ accept: "*/*", "accept-encoding": "gzip, br", "user-agent": "stepfold" });
  });

  it.each<[HttpData["body"], string, string]>([
    [{ json: { a: [1, null] } }, '{"a":[1,null]}', "application/json"],
    [{ json: null }, "null", "application/json"],
    [{ text: "grüße" }, "grüße", "text/plain;charset=UTF-8"],
    [{ form: { a: "1 & 2", b: [1, true], c: null } }, "a=1+%26+2&b=1&b=true", "application/x-www-form-urlencoded;charset=UTF-8"],
  ])("sends the body %j", (body, text, type) => {
    const request = of({ method: "POST", body });
    expect([request.body?.toString(), request.headers.get("content-type")]).toEqual([text, type]);
  });

  it("sends a user and a password as basic authentication, unless a header says otherwise", () => {
    const basicAuth = { user: "Aladdin", password: "open:sésame" };
    expect(of({ basicAuth }).headers.get("authorization")).toBe(`Basic ${Buffer.from("Aladdin:open:sésame").toString("base64")}`);
    expect(of({ basicAuth, headers: { Authorization: "Bearer t" } }).headers.get("authorization")).toBe("Bearer t");
    expect(() => of({ basicAuth: { user: "a:b", password: "" } })).toThrow(invalid);
  });

  it("leaves the content type to a header of yours", () => {
    const request = of({ method: "POST", body: { text: "<a/>" }, headers: { "Content-Type": "application/xml" } });
    expect(request.headers.get("content-type")).toBe("application/xml");
  });

  it.each(["GET", "HEAD"] as const)("refuses a body with %s", (method) => {
    expect(() => of({ method, body: { text: "" } })).toThrow(invalid);
  });

  it("adds the query to the one there is, which stays as it is written", () => {
    const url = "https://api.example.com/x?sig=a%20b+c&z#part";
    expect(of({ url, query: { q: "ä&b", n: [1, 2], none: null, yes: true } }).url.search).toBe(
      "?sig=a%20b+c&z&q=%C3%A4%26b&n=1&n=2&yes=true",
    );
    expect(of({ query: { q: 1 } }).url.search).toBe("?q=1");
    expect(of({ query: {} }).url.search).toBe("");
  });

  it.each<[Partial<HttpData>, string | undefined]>([
    [{}, undefined],
    [{ method: "HEAD" }, undefined],
    [{ method: "OPTIONS" }, undefined],
    [{ method: "GET", idempotencyKey: true }, key],
    [{ method: "POST" }, key],
    [{ method: "DELETE" }, key],
    [{ method: "POST", idempotencyKey: false }, undefined],
    [{ method: "POST", headers: { "Idempotency-Key": "mine" } }, "mine"],
  ])("with %j sends the idempotency key %s", (data, sent) => expect(of(data).headers.get("idempotency-key")).toBe(sent));

  it("F16 h: does not tell a service the id of the execution, and sends the same key for the same step", () => {
    const keyOf = (step: string) => httpRequest({ url: "https://a.example", method: "POST" }, step).headers.get("idempotency-key");
    expect(keyOf("größe 7/0#1")).toMatch(/^[0-9a-f]{64}$/);
    expect(keyOf("größe 7/0#1")).toBe(keyOf("größe 7/0#1"));
    expect(keyOf("größe 7/0#1")).not.toBe(keyOf("größe 7/0#2"));
  });

  it("takes numbers and truth values as headers, and leaves null out", () => {
    const { headers } = of({ headers: { "X-Count": 3, "x-dry": true, accept: "text/csv", "x-none": null } });
    expect([headers.get("x-count"), headers.get("x-dry"), headers.get("accept"), headers.has("x-none")]).toEqual([
      "3",
      "true",
      "text/csv",
      false,
    ]);
  });

  it.each(["", " ", "a b", "a:b", "a\r\nb", "ä", "(x)", "x\0"])("refuses %j as the name of a header", (name) => {
    expect(() => of({ headers: { [name]: "v" } })).toThrow(invalid);
  });

  it.each([
    "secret\r\nx-evil: 1",
    "secret\n",
    "secret\0",
    "secret\u2028",
    "secret€",
  ])("refuses the value %j, and does not repeat it", (value) => {
    const call = (): unknown => of({ headers: { authorization: value } });
    expect(call).toThrow(invalid);
    expect(call).not.toThrow(/secret/);
  });

  it.each([
    "Host",
    "content-length",
    "Transfer-Encoding",
    "connection",
    "upgrade",
    "expect",
    "te",
    "Proxy-Authorization",
  ])("keeps the header %s to itself", (name) => expect(() => of({ headers: { [name]: "1" } })).toThrow(invalid));

  it.each([
    "",
    "api.example.com",
    "/x",
    "https://",
    "http://a b/",
    "http://[::1",
    "http://1.2.3.4.5/",
  ])("refuses %j, which is no URL", (url) => {
    expect(() => of({ url })).toThrow(invalid);
  });

  it.each([
    "file:///etc/passwd",
    "ftp://a.example",
    "gopher://a.example",
    "javascript:1",
    "data:,x",
    "unix:/run/docker.sock",
  ])("does not call %s", (url) => {
    expect(() => of({ url })).toThrow(invalid);
  });

  it.each([
    "https://ada:secret@a.example/",
    "https://ada@a.example/",
    "https://:secret@a.example/",
  ])("refuses the user in %s, unrepeated", (url) => {
    expect(() => of({ url })).toThrow(invalid);
    expect(() => of({ url })).not.toThrow(/secret/);
  });

  it("is called by method and origin in errors: the rest may be secret", () => {
    expect(labelOf(of({ url: "https://hooks.example.com:8443/T0K3N?key=s3cret" }))).toBe("GET https://hooks.example.com:8443");
  });
});
