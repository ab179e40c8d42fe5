import { describe, expect, it } from "vitest";
import type { ResolvedAddress, ResolveHost } from "./resolve-host.ts";
import { type SsrfGuard, ssrfGuard } from "./ssrf-guard.ts";

const of = (...addresses: string[]): readonly ResolvedAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
const never: ResolveHost = () => Promise.reject(Object.assign(new Error("nobody asked"), { code: "ENOTFOUND" }));
const guardOf = (allowHosts: readonly string[], ...found: string[]): SsrfGuard =>
  ssrfGuard(allowHosts, found.length === 0 ? never : () => Promise.resolve(of(...found)));

function resolved(guard: SsrfGuard, url: string, options: object = { all: true }, from: URL | null = null): Promise<unknown> {
  return new Promise((resolve, reject) =>
    guard.lookupFor(new URL(url), from)(new URL(url).hostname, options, (error, address) => (error ? reject(error) : resolve(address))),
  );
}

describe("ssrfGuard", () => {
  it.each([
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://017700000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127.0.0.1./",
    "http://0/",
    "http://10.0.0.1:8080/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "https://255.255.255.255/",
  ])("refuses %s", (url) => {
    expect(() => guardOf([]).check(new URL(url), null)).toThrow(expect.objectContaining({ code: "HTTP_ADDRESS_REFUSED", "~fatal": true }));
  });

  it.each([
    "http://8.8.8.8/",
    "http://[2606:4700::1111]/",
    "http://example.com/",
    "http://localhost/",
  ])("has nothing against %s as it is written", (url) => expect(guardOf([]).check(new URL(url), null)).toBeUndefined());

  it("connects to the public addresses of a name only", async () => {
    expect(await resolved(guardOf([], "10.0.0.1", "8.8.8.8", "::1"), "http://mixed.example/")).toEqual(of("8.8.8.8"));
  });

  it("refuses a name without a public address, and does not tell which ones it has", async () => {
    const error = (await resolved(guardOf([], "10.9.8.7", "fd00::1"), "http://inside.example/").catch((thrown) => thrown)) as Error;
    expect(error).toMatchObject({ code: "HTTP_ADDRESS_REFUSED", message: expect.stringContaining("inside.example") });
    expect(error.message).not.toContain("10.9.8.7");
  });

  it("passes on that a name is unknown", async () => {
    await expect(resolved(guardOf([]), "http://gone.example/")).rejects.toMatchObject({ code: "ENOTFOUND" });
  });

  it("gives one address where one is asked for, of the family that is asked for", async () => {
    const guard = guardOf([], "8.8.8.8", "2606:4700::1111");
    expect(await resolved(guard, "http://a.example/", { family: 6 })).toBe("2606:4700::1111");
    expect(await resolved(guard, "http://a.example/", { family: "IPv4", all: true })).toEqual(of("8.8.8.8"));
    expect(await resolved(guard, "http://a.example/", {})).toBe("8.8.8.8");
    await expect(resolved(guardOf([], "8.8.8.8"), "http://a.example/", { family: 6 })).rejects.toMatchObject({
      code: "HTTP_ADDRESS_REFUSED",
    });
  });

  it.each([
    ["localhost", "http://localhost:3000/", true],
    ["LOCALHOST", "http://localhost/", true],
    ["localhost:8080", "http://localhost:8080/", true],
    ["localhost:8080", "http://localhost:8081/", false],
    ["localhost:80", "http://localhost/", true],
    ["localhost:443", "https://localhost/", true],
    ["localhost:443", "http://localhost/", false],
    ["a.internal", "http://b.a.internal/", false],
    ["a.internal", "http://a.internal.evil.example/", false],
    ["a.internal", "http://a.internal./", false],
  ])("with %s allowed, the private address of %s may be called: %s", async (host, url, works) => {
    const call = resolved(guardOf([host], "10.0.0.1"), url);
    if (works) expect(await call).toEqual(of("10.0.0.1"));
    else await expect(call).rejects.toMatchObject({ code: "HTTP_ADDRESS_REFUSED" });
  });

  it.each([
    ["127.0.0.1", "http://127.0.0.1:99/"],
    ["127.0.0.1", "http://0x7f000001/"],
    ["::1", "http://[::1]/"],
    ["[::1]:90", "http://[::1]:90/"],
    ["[0:0::1]", "http://[::1]/"],
  ])("lets %s be allowed as an address", (host, url) => expect(guardOf([host]).check(new URL(url), null)).toBeUndefined());

  it.each([
    "",
    "*",
    "*.internal",
    "http://localhost",
    "a/b",
    "a b",
    "user@host",
    "localhost:",
    "localhost:port",
    "[::1",
    "a\\b",
  ])("refuses %j as a name to allow: it would never match", (host) =>
    expect(() => guardOf([host])).toThrow(expect.objectContaining({ code: "OPTION_INVALID" })));
});

describe("F14: a host that is allowed by name", () => {
  const guard = guardOf(["inside.test", "127.0.0.1", "gate.test"], "10.0.0.1");
  const from = (url: string): URL => new URL(url);

  it("is not one for a redirect by a server that is not allowed", async () => {
    expect(() => guard.check(new URL("http://127.0.0.1/admin"), from("https://public.example/"))).toThrow(
      expect.objectContaining({ code: "HTTP_ADDRESS_REFUSED" }),
    );
    await expect(resolved(guard, "http://inside.test/admin", {}, from("https://public.example/"))).rejects.toMatchObject({
      code: "HTTP_ADDRESS_REFUSED",
    });
  });

  it("is one for the workflow, and for a redirect by another host that is allowed", async () => {
    for (const before of [null, from("http://gate.test/")]) {
      expect(guard.check(new URL("http://127.0.0.1/admin"), before)).toBeUndefined();
      expect(await resolved(guard, "http://inside.test/", { all: true }, before)).toEqual(of("10.0.0.1"));
    }
  });

  it("has an address of the family that is asked for, or says so", async () => {
    await expect(resolved(guard, "http://inside.test/", { family: 6 })).rejects.toThrow("has no address that can be connected to");
  });

  it("has a port that there is", () => {
    expect(() => guardOf(["inside.test:65536"])).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(guardOf(["inside.test:65535"])).toBeDefined();
  });
});
