import { describe, expect, it } from "vitest";
import { scrubber } from "./scrubber.ts";

describe("F6: secrets in error messages", () => {
  it("do not make a text of many likely places hang the process, as they did", () => {
    const text = "token:".repeat(170_000);
    expect(scrubber(["hunter2hunter2"])(text)).toHaveLength(text.length);
  });

  it.each(["eyJ", "-eyJ", "-sk-", "-----BEGIN PRIVATE KEY-----", "ghp_", "whsec_"])("nor does a text of many %s", (beginning) => {
    const text = beginning.repeat(320_000 / beginning.length);
    expect(scrubber([])(text).length).toBeLessThanOrEqual(text.length);
  });

  it("are found all the same", () => {
    const scrub = scrubber(["hunter2hunter2"]);
    expect(scrub("token: abc123def and hunter2hunter2")).toBe("token: *** and ***");
    expect(scrub("token: renew it")).toBe("token: renew it");
  });

  it("are found wherever they come from, if their form is known", () => {
    const key = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----";
    expect(scrubber([])(`no ghp_0123456789abcdef0123, no AKIAIOSFODNN7EXAMPLE, no\n${key}!`)).toBe("no ***, no ***, no\n***!");
  });

  it("are found among thousands", () => {
    const scrub = scrubber(Array.from({ length: 5_000 }, (_, i) => `the-secret-${i}-of-many`));
    for (let i = 0; i < 50; i++) expect(scrub(`it said the-secret-${i}-of-many twice`)).toBe("it said *** twice");
  });
});

describe("F16 a, b: a secret in another form", () => {
  const jwt = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl";
  const secret = 'Line "one"\nTwo/Three+é=?';
  const scrub = scrubber([jwt, secret, "MyTenantKey", "foobar", "barbazqux1"]);

  it.each<[what: string, text: string, clean: string]>([
    ["cut off", `not "${jwt.slice(0, 40)}"`, 'not "***"'],
    ["cut off after few characters", `not "${jwt.slice(0, 13)}…"`, 'not "***…"'],
    ["several times, cut off and whole", `${jwt.slice(0, 30)} ${jwt} ${jwt.slice(0, 20)}`, "*** *** ***"],
    ["in a JSON text", JSON.stringify({ said: secret }), '{"said":"***"}'],
    ["in a JSON text in a JSON text", JSON.stringify(JSON.stringify([secret])), '"[\\"***\\"]"'],
    ["as the host of a URL", new URL("http://MyTenantKey.example.com/x").href, "http://***.example.com/x"],
    ["in a URL", `?q=${encodeURIComponent(secret)}`, "?q=***"],
    ["in a form", new URLSearchParams({ q: secret }).toString(), "q=***"],
    ["in a URL, in lower case", `?q=${encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase())}`, "?q=***"],
    ["in base64 for URLs", Buffer.from(secret).toString("base64url").slice(0, 20), "***"],
    ["that overlaps another one", "a foobarbazqux1 b", "a *** b"],
    ["right behind another one", "foobarfoobar", "******"],
  ])("is taken out %s", (_, text, clean) => {
    expect(scrub(text)).toBe(clean);
  });

  it("is not seen in what only begins like one", () => {
    expect(scrub("eyJhbGciOiJ is short, and mytenant no key")).toBe("eyJhbGciOiJ is short, and mytenant no key");
  });
});
