import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { library, publicEntries } from "../../../../scripts/public-entries.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { compileExpression } from "../../src/expressions/index.ts";
import { postgresFeed } from "../../src/feeds/postgres/index.ts";
import { redisFeed } from "../../src/feeds/redis/index.ts";
import { cloudflareHost } from "../../src/guest/cloudflare/index.ts";
import { restateHost } from "../../src/guest/restate/index.ts";
import { triggerHost } from "../../src/guest/trigger/index.ts";
import { httpNode } from "../../src/nodes/http/index.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { bullmqQueue } from "../../src/queues/bullmq/index.ts";
import { memoryQueue } from "../../src/queues/memory/index.ts";
import { natsQueue } from "../../src/queues/nats/index.ts";
import { pgBossQueue } from "../../src/queues/pg-boss/index.ts";
import { rabbitmqQueue } from "../../src/queues/rabbitmq/index.ts";
import { sqsQueue } from "../../src/queues/sqs/index.ts";
import { createRuntime } from "../../src/runtime/index.ts";
import { handle } from "../../src/serverless/index.ts";
import { d1Store } from "../../src/stores/databases/d1/index.ts";
import { durableObjectStore } from "../../src/stores/databases/durable-object/index.ts";
import { dynamoStore } from "../../src/stores/databases/dynamo/index.ts";
import { libsqlBlobs, libsqlStore } from "../../src/stores/databases/libsql/index.ts";
import { memoryStore } from "../../src/stores/databases/memory/index.ts";
import { mongoStore } from "../../src/stores/databases/mongo/index.ts";
import { mysqlBlobs, mysqlStore } from "../../src/stores/databases/mysql/index.ts";
import { postgresBlobs, postgresStore } from "../../src/stores/databases/postgres/index.ts";
import { redisStore } from "../../src/stores/databases/redis/index.ts";
import { sqliteBlobs, sqliteStore } from "../../src/stores/databases/sqlite/index.ts";
import { upstashStore } from "../../src/stores/databases/upstash/index.ts";
import { blobbedStore, fileBlobs, s3Blobs } from "../../src/stores/wrappers/blobs/index.ts";
import { compressedStore } from "../../src/stores/wrappers/compressed/index.ts";
import { encryptedStore } from "../../src/stores/wrappers/encrypted/index.ts";
import { tieredStore } from "../../src/stores/wrappers/tiered/index.ts";
import { answerLinks, webhook } from "../../src/webhooks/index.ts";

type Make = (...given: never[]) => unknown;

const noop = async (): Promise<void> => undefined;
/** Makes a client that has these methods. */
const having = (...methods: readonly string[]): object => Object.fromEntries(methods.map((name) => [name, noop]));

const store = memoryStore();
const runtime = { start: noop, get: noop, broadcast: noop, sweep: noop };

/** Functions that take a client, a store or a runtime first, and their options last: with arguments that are right up to the options. */
const ofClients: Readonly<Record<string, { readonly make: Make; readonly before: readonly unknown[] }>> = {
  postgresStore: { make: postgresStore, before: [having("query")] },
  postgresBlobs: { make: postgresBlobs, before: [having("query")] },
  mysqlStore: { make: mysqlStore, before: [having("getConnection")] },
  mysqlBlobs: { make: mysqlBlobs, before: [having("getConnection")] },
  mongoStore: { make: mongoStore, before: [having("collection")] },
  dynamoStore: { make: dynamoStore, before: [having("get", "transactWrite")] },
  redisStore: { make: redisStore, before: [having("eval", "evalsha")] },
  upstashStore: { make: upstashStore, before: [having("eval", "evalsha")] },
  libsqlStore: { make: libsqlStore, before: [having("execute", "batch")] },
  libsqlBlobs: { make: libsqlBlobs, before: [having("execute", "batch")] },
  d1Store: { make: d1Store, before: [having("prepare", "batch")] },
  durableObjectStore: { make: durableObjectStore, before: [having("transactionSync")] },
  compressedStore: { make: compressedStore, before: [store] },
  encryptedStore: { make: encryptedStore, before: [store] },
  blobbedStore: { make: blobbedStore, before: [store, fileBlobs("/tmp")] },
  s3Blobs: { make: s3Blobs, before: [having("putObject", "getObject")] },
  bullmqQueue: { make: bullmqQueue, before: [having("addBulk"), noop] },
  natsQueue: { make: natsQueue, before: [having("jetstream")] },
  pgBossQueue: { make: pgBossQueue, before: [having("getQueue", "insert")] },
  rabbitmqQueue: { make: rabbitmqQueue, before: [having("createPublisher", "acquire")] },
  sqsQueue: { make: sqsQueue, before: [having("sendMessageBatch", "receiveMessage")] },
  postgresFeed: { make: postgresFeed, before: [having("query"), noop] },
  redisFeed: { make: redisFeed, before: [having("publish", "duplicate")] },
  handle: { make: handle, before: [runtime] },
  answerLinks: { make: answerLinks, before: [runtime] },
  webhook: { make: webhook, before: [runtime] },
};

/** Functions that take their options last, after what `before` says. */
const ofOptions: typeof ofClients = {
  ...ofClients,
  sqliteStore: { make: sqliteStore, before: [":memory:"] },
  sqliteBlobs: { make: sqliteBlobs, before: [":memory:"] },
  memoryStore: { make: memoryStore, before: [] },
  tieredStore: { make: tieredStore, before: [] },
  memoryQueue: { make: memoryQueue, before: [] },
  httpNode: { make: httpNode, before: [] },
  createRuntime: { make: createRuntime, before: [] },
  cloudflareHost: { make: cloudflareHost, before: [] },
  restateHost: { make: restateHost, before: [] },
  triggerHost: { make: triggerHost, before: [] },
};

/** Options that are right, for functions that need some. */
const needed: Readonly<Record<string, object>> = {
  dynamoStore: { table: "t" },
  encryptedStore: { keys: [{ id: "a", key: new Uint8Array(32) }] },
  tieredStore: { hot: store, cold: memoryStore() },
  s3Blobs: { bucket: "b" },
  sqsQueue: { queueUrl: "https://sqs.test/1/q" },
  createRuntime: { store, drive: false },
  handle: { secret: "x".repeat(43) },
  answerLinks: { keys: [{ id: "a", secret: "x".repeat(43) }] },
  webhook: { secret: "x".repeat(43), receive: noop },
  cloudflareHost: { step: having("do", "waitForEvent"), guest: having("perform") },
  restateHost: { ctx: having("run", "promise"), guest: having("perform"), RestatePromise: having("all") },
  triggerHost: { wait: having("until", "forToken"), step: having("batchTriggerAndWait"), workflowId: "a" },
};

const wrongValues: readonly unknown[] = [
  null,
  42,
  -1,
  Number.NaN,
  "x",
  "",
  true,
  [],
  [null],
  [42],
  {},
  { a: null },
  noop,
  Number.POSITIVE_INFINITY,
];

/** Returns the names of all options, which the refusal of an unknown one tells. */
function optionsOf(make: Make, before: readonly unknown[]): readonly string[] {
  try {
    call(make, [...before, { nonsense: 1 }])();
  } catch (error) {
    if (StepfoldError.is(error, "OPTION_UNKNOWN")) return error.details.known;
  }
  return [];
}

const call = (make: Make, given: readonly unknown[]): (() => unknown) => {
  return () => (make as (...given: readonly unknown[]) => unknown)(...given);
};
const failure = (code: string, details: object): unknown => expect.objectContaining({ code, details: expect.objectContaining(details) });

describe("a wrong argument is refused at once, with a code and the name of the argument", () => {
  it.each(Object.entries(ofClients))("%s: what is no client", (_, { make, before: [, ...rest] }) => {
    for (const wrong of [undefined, null, 42, "postgres://host", {}, []])
      expect(call(make, [wrong, ...rest])).toThrow(failure("OPTION_INVALID", { option: expect.any(String) }));
  });

  it.each(Object.entries(ofOptions))("%s: options that are none", (name, { make, before }) => {
    for (const wrong of [null, 42, "x"])
      expect(call(make, [...before, wrong])).toThrow(failure("OPTION_INVALID", { option: `options of ${name}` }));
    expect(call(make, [...before, { nonsense: 1 }])).toThrow(failure("OPTION_UNKNOWN", { of: name, option: "nonsense" }));
  });

  it.each(Object.entries(ofOptions))("%s: whatever an option holds, it is taken or refused with a code", async (name, { make, before }) => {
    const names = optionsOf(make, before);
    expect(names.length).toBeGreaterThan(0);
    for (const option of names)
      for (const wrong of wrongValues) {
        try {
          const made = call(make, [...before, { ...needed[name], [option]: wrong }])();
          await (made as { close?: () => Promise<void> }).close?.();
        } catch (error) {
          expect(StepfoldError.is(error), `${option}: ${JSON.stringify(wrong)} gives ${String(error)}`).toBe(true);
        }
      }
    for (const option of names.filter((one) => /^(migrate|prepare|durable|drive|keepStacks|dryRun)$/.test(one)))
      expect(call(make, [...before, { ...needed[name], [option]: "false" }])).toThrow(failure("OPTION_INVALID", { option }));
    for (const option of names.filter((one) => /(Ms|Seconds|Bytes)$/.test(one)))
      for (const wrong of ["30d", -1, Number.NaN])
        expect(call(make, [...before, { ...needed[name], [option]: wrong }])).toThrow(failure("OPTION_INVALID", { option }));
  });

  it("createRuntime: numbers that no timer and no database can count", () => {
    for (const option of ["leaseMs", "pollMs"])
      for (const wrong of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e15, "30000", 10n])
        expect(() => createRuntime({ store, drive: false, [option]: wrong } as never)).toThrow(failure("OPTION_INVALID", { option }));
    for (const option of ["maxCrashes", "maxLoadedBytes", "checkpointBytes"]) {
      for (const wrong of [0, -1, 1.5, Number.NaN, "5"])
        expect(() => createRuntime({ store, drive: false, [option]: wrong } as never)).toThrow(failure("OPTION_INVALID", { option }));
      expect(() => createRuntime({ store, drive: false, [option]: Number.POSITIVE_INFINITY } as never)).not.toThrow();
    }
  });

  it.each(Object.entries(ofOptions).filter(([name]) => name.endsWith("Queue")))("%s: delays that no queue can count", (name, {
    make,
    before,
  }) => {
    for (const option of optionsOf(make, before).filter((one) => /(Ms|Seconds)$/.test(one)))
      for (const wrong of [1.5, Number.POSITIVE_INFINITY, 1e15])
        expect(call(make, [...before, { ...needed[name], [option]: wrong }])).toThrow(failure("OPTION_INVALID", { option }));
  });

  it("postgresFeed: options in the place of the function that makes a listener", async () => {
    for (const wrong of [{ channel: "mine" }, null, undefined, "mine"])
      expect(() => postgresFeed(having("query") as never, wrong as never)).toThrow(failure("OPTION_INVALID", { option: "makeListener" }));
    const feed = postgresFeed(having("query") as never, (() => ({ query: noop })) as never);
    await expect(feed.listen(() => undefined, { onEnd: () => undefined })).rejects.toMatchObject({ code: expect.any(String) });
  });

  it("createRuntime and tieredStore: what is no store, queue or feed", () => {
    for (const wrong of [undefined, null, {}, "app.db"]) {
      expect(() => createRuntime({ store: wrong } as never)).toThrow(failure("OPTION_INVALID", { option: "store" }));
      expect(() => tieredStore({ hot: wrong, cold: store } as never)).toThrow(failure("OPTION_INVALID", { option: "hot" }));
      expect(() => tieredStore({ hot: store, cold: wrong } as never)).toThrow(failure("OPTION_INVALID", { option: "cold" }));
    }
    for (const option of ["queue", "feed"])
      expect(() => createRuntime({ store, [option]: { send: noop } } as never)).toThrow(failure("OPTION_INVALID", { option }));
  });

  it("has every function that makes a store, blobs, a queue, a feed or a host", () => {
    const made = publicEntries()
      .filter(({ name }) => !/testing|from-url/.test(name))
      .flatMap(
        ({ source }) => readFileSync(`${library}/${source.slice(2)}`, "utf8").match(/\b[a-z]\w*(Store|Blobs|Queue|Feed|Host)\b/g) ?? [],
      );
    // these take no options
    const without = ["memoryFeed", "fileBlobs"];
    expect([...new Set(made)].sort()).toEqual([...Object.keys(ofOptions).filter((name) => made.includes(name)), ...without].sort());
  });
});

describe("a wrong argument of a call is refused with a code", () => {
  const workflow = { id: "flow", nodes: [{ id: "ask", type: "approval" }], edges: [] };
  const nodeDefinitions = builtinNodes;
  const coded = expect.objectContaining({ code: expect.stringMatching(/^(OPTION|EXPRESSION)_(INVALID|UNKNOWN)$/) });

  it("of a runtime: bulk, sweep, prune, work and close", async () => {
    const opened = createRuntime({ store: memoryStore(), workflows: [workflow], nodeDefinitions, drive: false });
    for (const wrong of [undefined, null, 42, "cancel"]) await expect(opened.bulk(wrong as never).next()).rejects.toEqual(coded);
    for (const wakeUps of [42, "a", {}, [null]]) await expect(opened.sweep({ wakeUps } as never)).rejects.toEqual(coded);
    for (const signal of [42, {}, []]) await expect(opened.sweep({ signal } as never)).rejects.toEqual(coded);
    const before = Date.now();
    for (const wrong of [undefined, null, {}, { before: "2026" }, { before, definition: "flow" }, { before, dryRun: "false" }])
      await expect(opened.prune(wrong as never)).rejects.toEqual(coded);
    for (const wrong of [null, 42, { concurrency: "2" }, { concurency: 2 }]) expect(() => opened.work(wrong as never)).toThrow(coded);
    for (const wrong of [null, { timeoutMs: "30s" }, { timeout: 1 }]) await expect(opened.close(wrong as never)).rejects.toEqual(coded);
    await opened.close({ timeoutMs: 0 });
  });

  it("of an engine: a signal, a stream, the members of a command", async () => {
    const engine = new WorkflowEngine({ workflow, nodeDefinitions });
    const snapshot = await engine.execute({});
    for (const signal of [42, {}, "stop"]) await expect(engine.execute({ signal } as never)).rejects.toEqual(coded);
    for (const wrong of [undefined, null, 42]) await expect(engine.stream(wrong as never).next()).rejects.toEqual(coded);
    for (const wrong of [null, 42, { type: "resum" }, { type: "resume", paylod: {} }, { type: "cancel", why: "late" }])
      await expect(engine.send(snapshot, wrong as never)).rejects.toEqual(coded);
    expect((await engine.send(snapshot, { type: "cancel", reason: "late" })).status).toBe("cancelled");
  });

  it("of an expression: what is no text", () => {
    for (const wrong of [undefined, null, 42, {}, Symbol("s")]) expect(() => compileExpression(wrong as never)).toThrow(coded);
  });
});
