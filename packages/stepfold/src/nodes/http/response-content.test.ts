import { describe, expect, it } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { type Content, contentOf, contentOfFailure } from "./response-content.ts";

const of = (body: string | Buffer, contentType = "", more: Partial<Content> = {}): Content => ({
  bytes: Buffer.from(body as string),
  contentType,
  label: "GET https://a.example",
  wanted: "auto",
  numbers: "exact",
  ...more,
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
  ])("reads %s by its type", (type, body, value) => expect(contentOf(of(body, type))).toEqual(value));

  it.each<[string, string | Buffer]>([
    ["application/json", "<html>"],
    ["application/json", '{"a":'],
    ["image/png", binary],
    ["application/octet-stream", "text"],
    ["", binary],
    ["", Buffer.from([0xff, 0xfe])],
  ])("refuses what is %s by name and not readable as such", (type, body) => {
    expect(() => contentOf(of(body, type))).toThrow(unreadable);
  });

  it("reads as it is told, whatever the type", () => {
    expect(contentOf(of("[1]", "text/plain", { wanted: "json" }))).toEqual([1]);
    expect(contentOf(of("[1]", "application/json", { wanted: "text" }))).toBe("[1]");
    expect(contentOf(of(binary, "image/png", { wanted: "base64" }))).toBe(binary.toString("base64"));
    expect(() => contentOf(of("<p>", "text/html", { wanted: "json" }))).toThrow(/not valid JSON/);
  });
});

describe("a number that a JavaScript number cannot hold", () => {
  const answer =
    '{"id":7615917337495251231,"price":0.1,"few":12,"parts":[-9007199254740993,9007199254740992],"text":"7615917337495251231"}';

  it("becomes text, exactly as it is written", () => {
    const exact = {
      id: "7615917337495251231",
      price: 0.1,
      few: 12,
      parts: ["-9007199254740993", 9007199254740992],
      text: "7615917337495251231",
    };
    expect(contentOf(of(answer, "application/json"))).toEqual(exact);
    expect(contentOf(of(answer, "text/plain", { wanted: "json" }))).toEqual(exact);
    expect(contentOfFailure(of(answer, "application/json"))).toEqual(exact);
    expect(contentOf(of("123456789012345678901234567890", "application/json"))).toBe("123456789012345678901234567890");
  });

  it("is the nearest number if the data asks for that", () => {
    expect(contentOf(of(answer, "application/json", { numbers: "double" }))).toEqual(JSON.parse(answer));
  });

  it("is not a fraction, which is never exact", () => {
    expect(contentOf(of("[0.12345678901234567890, 1.5e300, 1e21]", "application/json"))).toEqual([0.12345678901234568, 1.5e300, 1e21]);
  });
});

describe("contentOfFailure", () => {
  it("never lets an error page hide the status", () => {
    expect(contentOfFailure(of("<h1>Bad gateway</h1>", "text/html", { wanted: "json" }))).toBe("<h1>Bad gateway</h1>");
    expect(contentOfFailure(of("<h1>oops", "application/json"))).toBe("<h1>oops");
    expect(contentOfFailure(of('{"why":1}', "application/json"))).toEqual({ why: 1 });
    expect(contentOfFailure(of(binary, "image/png"))).toBeNull();
    expect(contentOfFailure(of(""))).toBeNull();
  });
});
