import { createHash } from "node:crypto";
import { defineNode, type Event, type Plugin, type SnapshotStore, type WorkflowDefinition } from "stepfold";
import type { ApiScope } from "stepfold/client";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime, type Runtime, type RuntimeOptions } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { onTestFinished } from "vitest";
import { createServer, type Server, type ServerOptions, tokens } from "../src/index.ts";

export const everyScope: readonly ApiScope[] = ["read", "values", "start", "answer", "operate", "edit", "admin"];

/** The token of somebody, as text that is long enough. */
export const tokenOf = (name: string): string => `token-of-${name}-${"x".repeat(16)}`;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Who may do what on a served runtime. */
interface Person {
  readonly name: string;
  readonly scopes?: readonly ApiScope[];
  readonly tenant?: string;
  readonly expires?: number;
}

/** A runtime with a server, and calls of it. */
export interface Served {
  readonly store: SnapshotStore;
  readonly runtime: Runtime;
  readonly server: Server;
  /** Sends a request as somebody; null: as nobody. */
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** The whole response. */
  send(path: string, options?: AskOptions): Promise<Response>;
}

export interface AskOptions {
  readonly as?: string | null;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; each test knows what it must be. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as JSON
  readonly body: any;
}

/** What a served runtime has besides what tests need anyway. */
export interface ServedOptions extends Partial<Omit<ServerOptions, "runtime" | "store" | "auth">> {
  readonly people?: readonly Person[];
  readonly workflows?: readonly WorkflowDefinition[];
  readonly nodeDefinitions?: RuntimeOptions["nodeDefinitions"];
  readonly globals?: object;
  readonly store?: SnapshotStore;
  readonly plugins?: readonly Plugin[];
  readonly runtimeOptions?: Partial<RuntimeOptions>;
}

/** Serves a runtime until the end of the test. */
export async function served(options: ServedOptions = {}): Promise<Served> {
  const {
    people = [{ name: "ada" }],
    workflows = [ask, double],
    nodeDefinitions = {},
    globals,
    store = memoryStore(),
    plugins = [],
  } = options;
  const {
    runtimeOptions,
    people: _,
    workflows: __,
    nodeDefinitions: ___,
    globals: ____,
    store: _____,
    plugins: ______,
    ...serverOptions
  } = options;
  const runtime = createRuntime({
    ...{ store, workflows, plugins, pollMs: 20 },
    nodeDefinitions: { ...builtinNodes, ...testNodes, ...nodeDefinitions },
    ...(globals !== undefined && { globals: globals as never }),
    ...runtimeOptions,
  } as RuntimeOptions);
  const list = people.map(({ name, scopes = everyScope, tenant, expires }) => ({
    sha256: sha256(tokenOf(name)),
    name,
    scopes,
    tenant,
    expires,
  }));
  const server = createServer({ runtime, store, auth: tokens(list), ...serverOptions });
  onTestFinished(async () => {
    server.close();
    await runtime.close({ timeoutMs: 0 });
    if (!options.store) await store.close();
  });
  const send = (path: string, { as = people[0]!.name, method = "GET", body, headers = {}, signal }: AskOptions = {}): Promise<Response> =>
    server.fetch(
      new Request(`http://localhost${path}`, {
        method,
        ...(signal && { signal }),
        headers: {
          host: "localhost",
          ...(as !== null && { authorization: `Bearer ${tokenOf(as)}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    );
  return {
    ...{ store, runtime, server, send },
    async ask(path, asked) {
      const response = await send(path, asked);
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: text === "" ? null : JSON.parse(text) };
    },
  };
}

/** Asks somebody, and then ends with the answer. */
export const ask: WorkflowDefinition = {
  id: "ask",
  nodes: [
    { id: "approve", type: "approval", data: { title: "Order {{ input.order }}", message: "Ship it?" } },
    { id: "shipped", type: "end", data: { output: { order: "{{ input.order }}" } } },
    { id: "declined", type: "end", data: { output: "declined", terminate: true } },
  ],
  edges: [
    { source: "approve", target: "shipped", sourceHandle: "approved" },
    { source: "approve", target: "declined", sourceHandle: "rejected" },
  ],
} as WorkflowDefinition;

/** Doubles a number. */
export const double: WorkflowDefinition = {
  id: "double",
  input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  nodes: [{ id: "twice", type: "set", data: { n: "{{ input.n * 2 }}" } }],
  edges: [],
} as WorkflowDefinition;

const testNodes: NonNullable<RuntimeOptions["nodeDefinitions"]> = {
  fail: defineNode({
    executor(data) {
      throw Object.assign(new Error(String((data as { message?: unknown }).message ?? "no")), { code: "CARD_DECLINED" });
    },
  }),
};

/** All events of an execution. */
export async function eventsOf(store: SnapshotStore, workflowId: string): Promise<readonly Event[]> {
  const events: Event[] = [];
  for (
    let rows = await store.events(workflowId, -1, 1_000);
    rows.length > 0;
    rows = await store.events(workflowId, rows.at(-1)!.version, 1_000)
  )
    events.push(...rows.map(({ event }) => event));
  return events;
}
