import { describe, expect, it } from "vitest";
import { readMetadata } from "./read-metadata.ts";

describe("readMetadata", () => {
  it("reads numbers, booleans and null as JSON, and all else as text", () => {
    expect(readMetadata("tries=3", "--meta")).toEqual(["tries", 3]);
    expect(readMetadata("vip=true", "--meta")).toEqual(["vip", true]);
    expect(readMetadata('name="7"', "--meta")).toEqual(["name", "7"]);
    expect(readMetadata("name=a=b", "--meta")).toEqual(["name", "a=b"]);
    expect(readMetadata('list=["a"]', "--meta")).toEqual(["list", '["a"]']);
    expect(() => readMetadata("name", "--meta")).toThrow("--meta must be key=value");
  });

  it("keeps a number that a JavaScript number cannot hold as text", () => {
    expect(readMetadata("order=7615917337495251231", "--meta")).toEqual(["order", "7615917337495251231"]);
  });
});
