import { describe, expect, it } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { contentOf, contentOfFailure } from "./response-content.ts";

const of = (body: string | Buffer, contentType = ""): Parameters<typeof contentOf>[0] => ({
  bytes: Buffer.from(body as string),
  contentType,
  label: "GET https://a.example",
});
const binary = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 0xff]);
const unreadable = expect.objectContaining({ code: "HTTP_BODY_UNREADABLE", "~fatal": true });

describe("contentOf", () => {
  it.each<[string, string | Buffer, Json]>([
    ["application/json", '{"a":1}', { a: 1 }],
    ["application/JSON; charset=utf-8", "[1]", [1]],
    ["application/problem+json", "null", null],
    ["application/vnd.api+json;v=1", '"x"', "x"],
    ["application/json", "\uFEFF7", 7],
    ["application/json", "", null],
    ["text/plain", '{"a":1}', '{"a":1}'],
    ["text/html; charset=ISO-8859-1", Buffer.from([0x67, 0xfc]), "gü"],
    ['text/plain; charset="windows-1252"', Buffer.from([0x80]), "€"],
    ["text/plain; charset=no-such", "ü", "ü"],
    ["application/soap+xml", "<a/>", "<a/>"],
    ["", "plain ü", "plain ü"],
    ["image/png", "", null],
  ])("reads %s by its type", (type, body, value) => expect(contentOf(of(body, type), "auto")).toEqual(value));

  it.each<[string, string | Buffer]>([
    ["application/json", "<html>"],
    ["application/json", '{"a":'],
    ["image/png", binary],
    ["application/octet-stream", "text"],
    ["", binary],
    ["", Buffer.from([0xff, 0xfe])],
  ])("refuses what is %s by name and not readable as such", (type, body) => {
    expect(() => contentOf(of(body, type), "auto")).toThrow(unreadable);
  });

  it("reads as it is told, whatever the type", () => {
    expect(contentOf(of("[1]", "text/plain"), "json")).toEqual([1]);
    expect(contentOf(of("[1]", "application/json"), "text")).toBe("[1]");
    expect(contentOf(of(binary, "image/png"), "base64")).toBe(binary.toString("base64"));
    expect(() => contentOf(of("<p>", "text/html"), "json")).toThrow(/not valid JSON/);
  });
});

describe("contentOfFailure", () => {
  it("never lets an error page hide the status", () => {
    expect(contentOfFailure(of("<h1>Bad gateway</h1>", "text/html"), "json")).toBe("<h1>Bad gateway</h1>");
    expect(contentOfFailure(of("<h1>oops", "application/json"), "auto")).toBe("<h1>oops");
    expect(contentOfFailure(of('{"why":1}', "application/json"), "auto")).toEqual({ why: 1 });
    expect(contentOfFailure(of(binary, "image/png"), "auto")).toBeNull();
    expect(contentOfFailure(of(""), "auto")).toBeNull();
  });
});
