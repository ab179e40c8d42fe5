import type { WorkflowDefinition } from "../core/definition/definition.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { aFunction, aList, anObject, anything, aText, checkOptions, type OptionCheck } from "../core/values/check-arguments.ts";
import type { Json, JsonSchema } from "../core/values/json.ts";
import { defaultLimits } from "../core/values/limits.ts";
import { codeEngine } from "../engine/code/code-engine.ts";
import type { Asking, CodeContext } from "../engine/node/asking.ts";
import type { NodeDefinition, NodeDefinitions, NodeOutput } from "../engine/node/node-definition.ts";
import type { Schema, SchemaInput, SchemaOutput, Schemas } from "../engine/node/standard-schema.ts";
import type { StepContext } from "../engine/node/step-context.ts";
import { type AnyTyped, type NeededGlobals, type Typed, tokensOf } from "../engine/node/typed.ts";
import { payloadSchemaOf } from "../engine/workflow/payload-schema.ts";
import { readingInput } from "../engine/workflow/reading.ts";
import { durableStep } from "./asked-steps.ts";
import type { DurableStep, NextRunRequest } from "./durable-step.ts";
import type { Jsonified } from "./jsonified.ts";

/** What the code must return for the schema of its output. */
type Returned<O> = [Schema] extends [O] ? unknown : O extends { readonly "~standard": unknown } ? SchemaInput<O> : unknown;
/** What is left of it after the schema. */
type Kept<O, Out> = [Schema] extends [O] ? Out : O extends JsonSchema ? Out : SchemaOutput<O>;

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
export interface DurableOptions<
  I extends Schema,
  O extends Schema,
  Out,
  W extends Schemas,
  S extends Schemas,
  Globals,
  N extends NodeDefinitions = NodeDefinitions,
  L extends AnyTyped | WorkflowDefinition = AnyTyped | WorkflowDefinition,
> {
  /** Id of the workflow: 1 to 128 letters, digits, `_` or `-`. */
  readonly id: string;
  /** Versions that live side by side: each is a node type of its own, `id@version`. Default: one version, whose type is the id. */
  readonly version?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** The schema of the input. Default: any JSON. */
  readonly input?: I | undefined;
  /** The schema of what the code returns. Default: any JSON. */
  readonly output?: O | undefined;
  /** The answers that the code can wait for, by name, with the schemas of their payloads. */
  readonly waits?: W | undefined;
  /** The signals that the code can wait for, by name, with the schemas of their payloads. */
  readonly signals?: S | undefined;
  /** Node types for `undo` and `step.node`, which come with the workflow. */
  readonly nodes?: N | undefined;
  /** Workflows that `step.call` and `step.map` run. An execution keeps the definitions that it began with. */
  readonly workflows?: readonly L[] | undefined;
  /** The longest time of an execution; see `WorkflowDefinition.timeout`. */
  readonly timeout?: WorkflowDefinition["timeout"] | undefined;
  readonly concurrency?: WorkflowDefinition["concurrency"] | undefined;
  readonly rateLimit?: WorkflowDefinition["rateLimit"] | undefined;
  readonly taskQueue?: WorkflowDefinition["taskQueue"] | undefined;
  readonly metadata?: WorkflowDefinition["metadata"] | undefined;
  /**
   * The code. It may run from the start again at any time: after it has waited, after a crash, in another process. Then each step gives what it gave
   * before, and is not performed again. So code must ask for the same steps in the same order each time: nothing but the input, results of steps,
   * `step.now()`, `step.random()` and `step.changed()` may decide what it asks for.
   */
  run(
    context: DurableContext<
      SchemaOutput<I>,
      SchemaInput<I>,
      { readonly [K in keyof W]: SchemaOutput<W[K]> },
      { readonly [K in keyof S]: SchemaOutput<S[K]> },
      Globals
    >,
    globals: Globals,
  ): Out | NextRunRequest | Promise<Out | NextRunRequest>;
}

/** Options of any types. */
type AnyOptions = DurableOptions<Schema, Schema, unknown, Schemas, Schemas, never>;

const optionChecks: { readonly [K in keyof AnyOptions]-?: OptionCheck } = {
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
  I extends Schema,
  O extends Schema,
  Out extends Returned<O> = Returned<O>,
  W extends Schemas = Record<never, never>,
  S extends Schemas = Record<never, never>,
  Globals = unknown,
  N extends NodeDefinitions = Record<never, never>,
  L extends AnyTyped | WorkflowDefinition = never,
>(
  options: DurableOptions<I, O, Out, W, S, Globals, N, L>,
): Typed<
  SchemaInput<I>,
  Jsonified<Kept<O, Out>>,
  { readonly [K in keyof W]: SchemaInput<W[K]> },
  { readonly [K in keyof S]: SchemaInput<S[K]> },
  Globals & NeededGlobals<N, L>
> {
  checkOptions("defineDurable", options, optionChecks, ["id", "run"]);
  const { id, version } = options;
  const type = version === undefined ? id : `${id}@${version}`;
  const inner = innerWorkflows(options.workflows ?? []);
  const nodes: Record<string, NodeDefinition> = { ...inner.nodes, ...options.nodes, [type]: codeNode(options) };
  return {
    id,
    definition: definitionOf(options, type, inner.definitions),
    nodes,
    ...tokensOf(options),
    ...(options.input !== undefined && { "~input": options.input }),
  };
}

function definitionOf(
  options: Omit<AnyOptions, "run">,
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

type Payloads<S> = { readonly [K in keyof S]: SchemaOutput<S[K]> };

/** The node type that holds the code. */
function codeNode<I extends Schema, Out, W extends Schemas, S extends Schemas, Globals>(
  options: DurableOptions<I, Schema, Out, W, S, Globals>,
): NodeDefinition {
  const { id, output } = options;
  const read = readingInput(id, options.input);
  return {
    ...(output !== undefined && { output }),
    "~code": { waits: options.waits ?? {}, signals: options.signals ?? {}, engine: codeEngine },
    async executor(_data, context: StepContext & CodeContext): Promise<NodeOutput> {
      const code = context["~asking"];
      if (!code) throw new StepfoldError("CODE_MISPLACED", { workflow: id });
      return Promise.race([result(options, code, context, read), code.givenUp]);
    },
  };
}

async function result<I extends Schema, Out, W extends Schemas, S extends Schemas, Globals>(
  options: DurableOptions<I, Schema, Out, W, S, Globals>,
  code: Asking,
  context: StepContext,
  read: (input: Json) => unknown,
): Promise<NodeOutput> {
  const { workflowId, globals, signal, input = null } = context;
  try {
    const given = (await read(input)) as SchemaOutput<I>;
    const step = durableStep<SchemaInput<I>, Payloads<W>, Payloads<S>>(code, options);
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
