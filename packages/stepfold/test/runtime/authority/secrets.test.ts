import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { FatalError } from "../../../src/engine/node/fatal-error.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { createGuest } from "../../../src/guest/create-guest.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { JournalHost } from "../../guest/journal-host.fixture.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const stripe = `sk_${"live"}_4eC39HqLyjWDarjtT1zdp7dc`;
const password = "correct horse";

interface Globals {
  readonly stripe: string;
  readonly mail: { readonly host: string; readonly password: string; readonly dsn: string };
}

class HttpError extends Error {
  readonly status = 401;
  readonly headers = { authorization: stripe };
}

/** The globals of the guide, and a password that neither its name nor its looks tell. */
const globals = {
  stripe,
  mail: { host: "smtp.example", password: "hunter2-hunter2", dsn: "smtp://ada:open-sesame@smtp.example" },
  door: password,
};
const leaks = [stripe, "hunter2-hunter2", "open-sesame", password];

const nodeDefinitions = {
  ...builtinNodes,
  quote: defineNode({
    executor: (_data, { globals: given }) => {
      const { mail } = given as Globals;
      throw new HttpError(`401 for ${stripe}, ${mail.password}, ${mail.dsn} and ${password}`);
    },
  }),
  detail: defineNode({
    executor: () => {
      throw new FatalError("refused", { details: { sent: [stripe, { again: password }] } });
    },
  }),
};
const quote = flow("quote", { a: "quote" });
const detail = flow("detail", { a: "detail" });
const data = flow("data", { a: ["set", { key: "{{ globals.stripe }}" }] });

function bench(more: object = {}) {
  const told: unknown[] = [];
  const tell = (...args: unknown[]): void => void told.push(...args);
  const problems: unknown[] = [];
  const thrown: unknown[] = [];
  const made = setUp({
    nodeDefinitions,
    workflows: [quote, detail, data],
    globals,
    secrets: ["door"],
    logger: { info: tell, warn: tell, error: tell },
    plugins: [{ onError: (error: unknown) => void thrown.push(error) }],
    onProblem: (_id: string | null, error: unknown) => void problems.push(error),
    ...more,
  });
  return { ...made, told, problems, thrown };
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    member instanceof Error ? { ...member, message: member.message, stack: member.stack, cause: member.cause } : member,
  );

function expectNoLeak(value: unknown): void {
  const text = textOf(value);
  for (const leak of leaks) expect(text).not.toContain(leak);
  expect(text).toContain("***");
}

describe("A19: secrets of globals, whatever they are called", () => {
  it("are in no error, event, log, hook, list and sentence", async () => {
    const { runtime, environment, store, told, thrown } = bench();
    const run = await runtime.start("quote", { workflowId: "q" });
    await environment.settle();
    const events: unknown[] = [];
    for await (const { event } of run.watch()) events.push(event);
    for (const seen of [await run.snapshot(), events, await run.explain(), await store.list({}), told, thrown]) expectNoLeak(seen);
    await run.result().catch(expectNoLeak);
    expect(thrown[0]).toBeInstanceOf(HttpError);
    expect(thrown[0]).toMatchObject({ status: 401, headers: { authorization: "***" } });
  });

  it("are in no details of an error", async () => {
    const { runtime, environment, thrown } = bench();
    const run = await runtime.start("detail", { workflowId: "d" });
    await environment.settle();
    expect((await run.snapshot()).error?.details).toEqual({ sent: ["***", { again: "***" }] });
    expectNoLeak(thrown);
  });

  it("stay in data: what a step gives is the state, and is never changed", async () => {
    const { runtime, environment } = bench();
    const run = await runtime.start("data", { workflowId: "d" });
    await environment.settle();
    expect((await run.snapshot()).output).toMatchObject({ key: stripe });
  });

  it("are removed also from errors of workflows that may not read them", async () => {
    const { runtime, environment } = bench({ globalsFor: { quote: ["mail"] } });
    const run = await runtime.start("quote", { workflowId: "q" });
    await environment.settle();
    expectNoLeak((await run.snapshot()).error);
  });

  it("may be renewed while the runtime is open", async () => {
    const renewed = { ...globals };
    const { runtime, environment } = bench({ globals: renewed, secrets: ["door"] });
    const start = async (workflowId: string): Promise<string> => {
      const run = await runtime.start("quote", { workflowId });
      await environment.settle();
      return (await run.snapshot()).error!.message;
    };
    expect(await start("a")).not.toContain(password);
    renewed.door = "another one";
    expect(await start("b")).toContain(password);
    renewed.door = password;
    expect(await start("c")).not.toContain(password);
  });

  it("are removed from problems; other errors are given as they are", async () => {
    const failure = new Error(`cannot reach ${password}`);
    const { runtime, environment, store, problems } = bench({ drive: false });
    store.claim = () => Promise.reject(failure);
    runtime.work();
    await environment.advance(5_000);
    expectNoLeak(problems);
    expect(failure.message).toContain(password);
  });

  it("are removed by an engine and by a guest", async () => {
    const engine = new WorkflowEngine({ workflow: quote, nodeDefinitions, secrets: ["door"] });
    expectNoLeak((await engine.execute({ globals } as never)).error);
    const host = new JournalHost([]);
    const guestOf = () => createGuest({ workflows: [quote], nodeDefinitions, globals, secrets: ["door"] } as never);
    expectNoLeak(await host.run(guestOf as never, { workflow: "quote", workflowId: "g" }));
  });
});

describe("the option secrets", () => {
  const service = new (class Vault {
    readonly key = "inside-the-vault";
  })();
  let called = false;
  const given = {
    ...globals,
    short: "abc",
    empty: "",
    pin: 123_456,
    service,
    list: ["first one", "second one"],
    parts: { one: "one of them", two: "two", none: "" },
    get lazy(): string {
      called = true;
      return "lazy-lazy";
    },
    run: () => "x",
  };

  it.each<[secrets: unknown, reason: RegExp]>([
    [["nothing"], /"nothing" is not in globals/],
    [["mail.nothing"], /"mail.nothing" is not in globals/],
    [["stripe.length"], /"stripe.length" is not in globals/],
    [["toString"], /"toString" is not in globals/],
    [["__proto__"], /"__proto__" is not in globals/],
    [[""], /"" is not in globals/],
    [["short"], /"short" has fewer than 6 characters/],
    [["empty"], /"empty" has fewer than 6 characters/],
    [["parts"], /"parts.two" has fewer than 6 characters/],
    [["pin"], /"pin" must be a text, or a plain object or a list with texts/],
    [["service"], /"service" must be a text/],
    [["service.key"], /"service.key" leads into an object of a class/],
    [["run"], /"run" must be a text/],
    [["lazy"], /"lazy" is a getter/],
    ["stripe", /must be a list of texts/],
    [{ stripe: true }, /must be a list of texts/],
    [[["stripe"]], /must be a list of texts/],
    [null, /must be a list of texts/],
  ])("refuses %j at the start, without the value", async (secrets, reason) => {
    const refusal = { code: "OPTION_INVALID", details: { option: "secrets" }, message: expect.stringMatching(reason) };
    const caught = (act: () => unknown): unknown => {
      try {
        return act();
      } catch (error) {
        return error;
      }
    };
    const options = { nodeDefinitions, globals: given, secrets } as never;
    expect(caught(() => bench(options))).toMatchObject(refusal);
    expect(caught(() => createGuest({ workflows: [quote], ...(options as object) } as never))).toMatchObject(refusal);
    const engineOf = () => new WorkflowEngine({ workflow: quote, nodeDefinitions, secrets } as never);
    const engine = caught(engineOf);
    expect(engine instanceof WorkflowEngine ? await engine.execute({ globals: given } as never).catch((e) => e) : engine).toMatchObject(
      refusal,
    );
    expect(called).toBe(false);
  });

  it("takes a list and an object as all of their texts", async () => {
    const texts = { list: ["first one", "second one"], parts: { one: "one of them", deep: [{ two: "the other" }], none: "", count: 5 } };
    const fail = defineNode({
      executor: () => {
        throw new Error("first one, second one, one of them, the other, the third");
      },
    });
    const engine = new WorkflowEngine({
      workflow: flow("f", { a: "fail" }),
      nodeDefinitions: { fail },
      secrets: ["list.1", "list.0", "parts"],
    });
    expect((await engine.execute({ globals: texts } as never)).error?.message).toBe("***, ***, ***, ***, the third");
  });

  it("refuses globals that are too large to be searched, instead of leaving something out", () => {
    const many = Array.from({ length: 100_001 }, (_, i) => i);
    const refusal = expect.objectContaining({ code: "OPTION_INVALID", details: expect.objectContaining({ option: "globals" }) });
    const attempt = (more: object): unknown => {
      try {
        bench({ secrets: [], globals: more });
        return null;
      } catch (error) {
        return error;
      }
    };
    expect(attempt({ many })).toEqual(refusal);
    expect(attempt({ tokens: Array.from({ length: 10_001 }, (_, i) => `secret ${i}`) })).toEqual(refusal);
    expect(attempt({ tokens: ["x".repeat(4_000_001)] })).toEqual(refusal);
    expect(attempt({ service: new Map([["many", many]]), tokens: Array.from({ length: 9_000 }, (_, i) => `secret ${i}`) })).toBeNull();
  });
});
