import type { WorkflowDefinition } from "../core/definition/definition.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { aFunction, aList, anObject, anything, aText, checkOptions, type OptionCheck } from "../core/values/check-arguments.ts";
import type { Json, JsonSchema } from "../core/values/json.ts";
import { defaultLimits } from "../core/values/limits.ts";
import type { Asking, CodeContext } from "../engine/node/asking.ts";
import type { NodeDefinition, NodeDefinitions, NodeOutput } from "../engine/node/node-definition.ts";
import type { Schema } from "../engine/node/standard-schema.ts";
import type { StepContext } from "../engine/node/step-context.ts";
import type { AnyTyped, SignalToken, Typed, WaitToken } from "../engine/node/typed.ts";
import { payloadSchemaOf } from "../engine/workflow/payload-schema.ts";
import { durableStep } from "./asked-steps.ts";
import type { DurableStep, NextRunRequest } from "./durable-step.ts";
import type { Jsonified } from "./jsonified.ts";
import { reading } from "./reading.ts";

/** Schemas by name. */
export type Schemas = Readonly<Record<string, Schema>>;

/** What a value must be before a schema has read it. */
export type SchemaInput<S> = S extends { readonly "~standard": { readonly types?: { readonly input: infer I } | undefined } }
  ? I
  : SchemaOutput<S>;
/** What a schema makes of a value. */
export type SchemaOutput<S> = S extends { readonly "~standard": { readonly types?: { readonly output: infer O } | undefined } }
  ? O
  : S extends (value: never) => infer R
    ? Awaited<R>
    : Json;

type Inputs<S> = { readonly [K in keyof S]: SchemaInput<S[K]> };
type Outputs<S> = { readonly [K in keyof S]: SchemaOutput<S[K]> };

/** What durable code gets. */
export interface DurableContext<In, NextIn, Waits, Signals, Globals> {
  /** The input, read by the schema `input`. */
  readonly input: In;
  readonly step: DurableStep<NextIn, Waits, Signals>;
  /** Id of the execution. */
  readonly workflowId: string;
  /** Secrets and services, as handed to the engine or runtime; never stored. */
  readonly globals: Globals;
  /** Aborted when this run of the code no longer counts: it rests, was cancelled, or this process stops. */
  readonly signal: AbortSignal;
}

/** The options of `defineDurable`. */
export interface DurableOptions<I extends Schema, Out, W extends Schemas, S extends Schemas, Globals> {
  /** Id of the workflow: 1 to 128 letters, digits, `_` or `-`. */
  readonly id: string;
  /** Versions that live side by side: each is a node type of its own, `id@version`. Default: one version, whose type is the id. */
  readonly version?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** The schema of the input. Default: any JSON. */
  readonly input?: I | undefined;
  /** The schema of what the code returns. Default: any JSON. */
  readonly output?: Schema | undefined;
  /** The answers that the code can wait for, by name, with the schemas of their payloads. */
  readonly waits?: W | undefined;
  /** The signals that the code can wait for, by name, with the schemas of their payloads. */
  readonly signals?: S | undefined;
  /** Node types for `undo` and `step.node`, which come with the workflow. */
  readonly nodes?: NodeDefinitions | undefined;
  /** Workflows that `step.call` and `step.map` run. An execution keeps the definitions that it began with. */
  readonly workflows?: readonly (AnyTyped | WorkflowDefinition)[] | undefined;
  /** The longest time of an execution; see `WorkflowDefinition.timeout`. */
  readonly timeout?: WorkflowDefinition["timeout"];
  readonly concurrency?: WorkflowDefinition["concurrency"];
  readonly rateLimit?: WorkflowDefinition["rateLimit"];
  readonly taskQueue?: WorkflowDefinition["taskQueue"];
  readonly metadata?: WorkflowDefinition["metadata"];
  /**
   * The code. It may run from the start again at any time: after it has waited, after a crash, in another process. Then each step gives what it gave
   * before, and is not performed again. So code must ask for the same steps in the same order each time: nothing but the input, results of steps,
   * `step.now()`, `step.random()` and `step.changed()` may decide what it asks for.
   */
  run(context: DurableContext<SchemaOutput<I>, SchemaInput<I>, Outputs<W>, Outputs<S>, Globals>, globals: Globals): Out | Promise<Out>;
}

const optionChecks: { readonly [K in keyof DurableOptions<Schema, unknown, Schemas, Schemas, unknown>]-?: OptionCheck } = {
  ...{ id: aText, version: aText, name: aText, description: aText, input: anything, output: anything, run: aFunction },
  ...{ waits: anObject, signals: anObject, nodes: anObject, workflows: aList, metadata: anObject },
  ...{ timeout: anything, concurrency: anObject, rateLimit: anObject, taskQueue: aText },
};

/**
 * A workflow that is written as code. Loops, conditions and variables are those of TypeScript; what must happen once is a step (`step.run`), and what
 * takes days is a step too (`step.sleep`, `step.waitFor`, `step.signal`). An execution survives crashes, deployments and years: its steps are
 * performed once, and everything between them is run again.
 *
 * ```ts
 * const trial = defineDurable({
 *   id: "trial",
 *   input: z.object({ email: z.string() }),
 *   signals: { upgrade: z.object({ plan: z.string() }) },
 *   async run({ input, step }) {
 *     await step.run("welcome", (sub) => mail.send(input.email, "Welcome!", sub.idempotencyKey));
 *     const upgrade = await step.signal("upgrade", { timeout: "14 days" });
 *     return upgrade ? { plan: upgrade.plan } : { plan: "free" };
 *   },
 * });
 * const runtime = createRuntime({ store, workflows: [trial] });
 * const run = await runtime.start(trial, { input: { email: "ada@example.org" } });
 * await run.signal(trial.signals.upgrade, { plan: "team" });
 * ```
 *
 * If code asks for other steps than before, its execution is parked with `CODE_CHANGED`, and goes on once the right code is back, or after a
 * `retry` command (docs/guides/changing.md).
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function defineDurable<
  I extends Schema = JsonSchema,
  Out = unknown,
  W extends Schemas = Record<never, never>,
  S extends Schemas = Record<never, never>,
  Globals = unknown,
>(options: DurableOptions<I, Out, W, S, Globals>): Typed<SchemaInput<I>, Jsonified<Exclude<Out, NextRunRequest>>, Inputs<W>, Inputs<S>> {
  checkOptions("defineDurable", options, optionChecks, ["id", "run"]);
  const { id, version, waits = {} as W, signals = {} as S } = options;
  const type = version === undefined ? id : `${id}@${version}`;
  const inner = innerWorkflows(options.workflows ?? []);
  const nodes: Record<string, NodeDefinition> = { ...inner.nodes, ...options.nodes, [type]: codeNode(options) };
  return {
    id,
    definition: definitionOf(options, type, inner.definitions),
    nodes,
    waits: tokens(waits, (step): WaitToken => ({ step })) as { readonly [K in keyof W]: WaitToken<SchemaInput<W[K]>> },
    signals: tokens(signals, (signal): SignalToken => ({ signal })) as { readonly [K in keyof S]: SignalToken<SchemaInput<S[K]>> },
  };
}

function definitionOf(
  options: DurableOptions<Schema, unknown, Schemas, Schemas, never>,
  type: string,
  workflows: Readonly<Record<string, WorkflowDefinition>>,
): WorkflowDefinition {
  const { id, version, name, description, nodes, input, timeout, concurrency, rateLimit, taskQueue, metadata } = options;
  const schema = input === undefined ? undefined : payloadSchemaOf(input, defaultLimits)?.schema;
  return {
    id,
    code: nodes === undefined ? true : "undo",
    ...(version !== undefined && { version }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(metadata !== undefined && { metadata }),
    ...(schema !== undefined && { input: schema }),
    ...(timeout !== undefined && { timeout }),
    ...(concurrency !== undefined && { concurrency }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(taskQueue !== undefined && { taskQueue }),
    ...(Object.keys(workflows).length > 0 && { workflows }),
    nodes: [{ id, type }],
    edges: [],
  };
}

/** Returns the definitions of the workflows that the code runs as parts of its execution, by id, and their node types. */
function innerWorkflows(workflows: readonly (AnyTyped | WorkflowDefinition)[]): {
  readonly definitions: Readonly<Record<string, WorkflowDefinition>>;
  readonly nodes: NodeDefinitions;
} {
  const definitions: Record<string, WorkflowDefinition> = {};
  const nodes: Record<string, NodeDefinition> = {};
  for (const workflow of workflows) {
    const isCode = "definition" in workflow;
    const definition = isCode ? workflow.definition : workflow;
    definitions[definition.id] = definition;
    if (isCode) Object.assign(nodes, workflow.nodes);
  }
  return { definitions, nodes };
}

function tokens<T>(schemas: Schemas, make: (name: string) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.keys(schemas).map((name) => [name, make(name)]));
}

/** The node type that holds the code. */
function codeNode<I extends Schema, Out, W extends Schemas, S extends Schemas, Globals>(
  options: DurableOptions<I, Out, W, S, Globals>,
): NodeDefinition {
  const { id, input: schema, output } = options;
  const read = schema === undefined ? undefined : reading(schema, (issues) => new StepfoldError("INPUT_INVALID", { workflow: id, issues }));
  return {
    ...(output !== undefined && { output: output as Schema<unknown> }),
    "~code": { waits: options.waits ?? {}, signals: options.signals ?? {} },
    async executor(_data, context: StepContext & CodeContext): Promise<NodeOutput> {
      const code = context["~asking"];
      if (!code) throw new StepfoldError("CODE_MISPLACED", { workflow: id });
      return Promise.race([result(options, code, context, read), code.givenUp]);
    },
  };
}

async function result<I extends Schema, Out, W extends Schemas, S extends Schemas, Globals>(
  options: DurableOptions<I, Out, W, S, Globals>,
  code: Asking,
  context: StepContext,
  read: ((value: Json) => unknown) | undefined,
): Promise<NodeOutput> {
  const { workflowId, globals, signal, input = null } = context;
  try {
    const given = (read ? await read(input) : input) as SchemaOutput<I>;
    const step = durableStep<SchemaInput<I>, Outputs<W>, Outputs<S>>(code, options);
    const returned = await options.run({ input: given, step, workflowId, globals: globals as Globals, signal }, globals as Globals);
    if (isNextRun(returned)) return { continueAs: returned["~continueAs"] };
    return { data: returned === undefined ? null : returned, terminate: true };
  } finally {
    code.end();
  }
}

function isNextRun(returned: unknown): returned is NextRunRequest {
  return typeof returned === "object" && returned !== null && Object.hasOwn(returned, "~continueAs");
}
