import { describe, expect, it } from "vitest";
import { asking, engineOf, failing, giving } from "./engine.fixture.ts";

const secret = "correct-horse-battery-staple";

describe("what a node does to the values it gets and gives", () => {
  it("changes no snapshot: data, input, context and payloads are frozen", async () => {
    const attempts: string[] = [];
    const attack = (name: string, act: () => void): void => {
      try {
        act();
        attempts.push(`${name} worked`);
      } catch {
        attempts.push(`${name} refused`);
      }
    };
    const { engine } = engineOf(
      {
        a: giving({ list: [1] }),
        b: (data, step) => {
          const { list } = data as { list: number[] };
          attack("data", () => list.push(2));
          attack("input", () => Object.assign(step.input as object, { x: 2 }));
          attack("context", () => Object.assign(step.context, { a: [] }));
          attack("results", () => (step.context.a as unknown[]).push(1));
          attack("result", () => Object.assign(step.context.a![0]!, { output: 2 }));
          attack("output", () => (step.context.a![0]!.output as unknown as { list: number[] }).list.push(2));
          return { data: { list } };
        },
      },
      ["a>b"],
      { parts: { b: { data: { list: "{{ nodes.a.last.data.list }}" } } } },
    );
    const input = { x: 1 };
    const snapshot = await engine.execute({ input });
    expect(attempts).toEqual(["data refused", "input refused", "context refused", "results refused", "result refused", "output refused"]);
    expect(snapshot).toMatchObject({
      status: "completed",
      input: { x: 1 },
      context: { a: [{ output: { list: [1] } }], b: [{ output: { list: [1] } }] },
    });
  });

  it("changes no snapshot either when it keeps what it returned and changes that later", async () => {
    const kept = { list: [1], at: new Date(0) };
    const { engine } = engineOf(
      {
        a: () => ({ data: kept }),
        b: () => {
          kept.list.push(2);
          return { data: kept };
        },
      },
      ["a>b"],
    );
    const snapshot = await engine.execute({});
    kept.list.push(3);
    expect([snapshot.context.a?.[0]?.output, snapshot.output]).toEqual([
      { list: [1], at: "1970-01-01T00:00:00.000Z" },
      { list: [1, 2], at: "1970-01-01T00:00:00.000Z" },
    ]);
  });

  it("sees the same before and after a store", async () => {
    const seen: unknown[] = [];
    const { engine } = engineOf(
      {
        a: giving({ at: new Date(5), none: undefined, minus: -0 }),
        b: asking(),
        c: (_, step) => {
          seen.push(step.context.a?.[0]?.output);
          return { data: 1 };
        },
      },
      ["a>b", "b>c"],
    );
    const paused = await engine.execute({});
    await engine.execute({ snapshot: paused });
    await engine.execute({ snapshot: JSON.parse(JSON.stringify(paused)) as object });
    expect(seen).toEqual([
      { at: "1970-01-01T00:00:00.005Z", minus: 0 },
      { at: "1970-01-01T00:00:00.005Z", minus: 0 },
    ]);
  });
});

describe("globals", () => {
  it("reach executors and expressions, and never a snapshot", async () => {
    const service = { call: () => "called" };
    const { engine } = engineOf(
      { a: (data, step) => ({ data: [(data as { who: string }).who, (step.globals as { service: typeof service }).service.call()] }) },
      [],
      { parts: { a: { data: { who: "{{ globals.user }}" } } } },
    );
    const snapshot = await engine.execute({ globals: { user: "ada", service, secrets: { key: secret } } as never });
    expect(snapshot.output).toEqual(["ada", "called"]);
    expect(JSON.stringify(snapshot)).not.toContain(secret);
  });
});

describe("the message of an error", () => {
  const base64 = Buffer.from(secret.slice(0, 27)).toString("base64");
  it.each<[string, string]>([
    ["a secret", `cannot use ${secret} here`],
    ["a secret in a name", "x"],
    ["its base64", `got ${base64} back`],
    ["its URL encoding", `?q=${encodeURIComponent("p@ss word/1")}`],
    ["a bearer token", "Authorization: Bearer abc.def-123456 refused"],
    ["a basic credential", "Basic dXNlcjpwYXNzd29yZA=="],
    ["user and password of a URL", "https://ada:hunter2secret@db.example/x failed"],
    ["the token of a URL", "https://ghp_0123456789@git.example/x failed"],
    ["an api key", 'api_key="0123456789abcdef"'],
  ])("is scrubbed of %s", async (_, message) => {
    const error = Object.assign(new Error(message), { name: `E-${secret}`, code: secret });
    const { engine } = engineOf({ a: failing(error) });
    const text = JSON.stringify(await engine.execute({ globals: { secrets: { key: secret, db: { password: "p@ss word/1" } } } as never }));
    for (const leak of [
      secret,
      base64,
      encodeURIComponent("p@ss word/1"),
      "abc.def-123456",
      "dXNlcjpwYXNzd29yZA",
      "hunter2secret",
      "ghp_0123456789",
      "0123456789abcdef",
    ])
      expect(text).not.toContain(leak);
    expect(text).toContain("***");
  });

  it("is scrubbed of values under telling keys, wherever they are, but not of short or harmless ones", async () => {
    const globals = {
      apiKey: "key-of-the-api",
      nested: [{ sessionCookie: "cookie-value" }],
      name: "harmless-name",
      token: "abc",
      count: { password: 123456 },
      cyclic: {} as object,
    };
    globals.cyclic = globals;
    const { engine } = engineOf({ a: failing(new Error("key-of-the-api cookie-value harmless-name abc")) });
    expect((await engine.execute({ globals: globals as never })).error?.message).toBe("*** *** harmless-name abc");
  });

  it("leaves services alone, which keep their secrets to themselves", async () => {
    class Vault {
      readonly secret = "inside-the-vault";
      get token(): string {
        throw new Error("do not touch");
      }
    }
    const { engine } = engineOf({ a: failing(new Error("inside-the-vault")) });
    expect((await engine.execute({ globals: { vault: new Vault() } as never })).error?.message).toBe("inside-the-vault");
  });

  it.each<[string, unknown]>([
    ["half a character", { secrets: { a: "\ud800secret-value" } }],
    ["a certificate bundle", { secrets: { ca: "MIIB".repeat(100_000) } }],
    ["text beyond latin", { secrets: { a: "пароль-которого-нет" } }],
    ["nothing", null],
  ])("is scrubbed also where the globals hold %s", async (_, globals) => {
    const { engine } = engineOf({ a: failing(new Error("plain words")) });
    expect(await engine.execute({ globals: globals as never })).toMatchObject({ status: "failed", error: { message: "plain words" } });
  });

  it("is scrubbed of the base64 form of a secret beyond latin, too", async () => {
    const password = "пароль-которого-нет";
    const { engine } = engineOf({ a: failing(new Error(`sent ${Buffer.from(password).toString("base64")}`)) });
    const { error } = await engine.execute({ globals: { secrets: { password } } as never });
    expect(error?.message).not.toContain(Buffer.from(password.slice(0, 12)).toString("base64").slice(0, 24));
  });
});
