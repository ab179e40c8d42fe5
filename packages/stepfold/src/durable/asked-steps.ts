import type { RetryPolicy } from "../core/definition/definition.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { type Duration, durationMs } from "../core/values/duration.ts";
import { seededShare } from "../core/values/hash/seeded.ts";
import { sha256 } from "../core/values/hash/sha256.ts";
import type { Json } from "../core/values/json.ts";
import { judgeTimestamp } from "../core/values/timestamp.ts";
import type { Asking, StepRequest } from "../engine/node/asking.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";
import type { Schema } from "../engine/node/standard-schema.ts";
import { isTyped } from "../engine/node/typed.ts";
import { reading } from "../engine/workflow/reading.ts";
import type {
  DurableStep,
  QuorumOptions,
  RunningStep,
  SignalWaitOptions,
  StepRetry,
  StepRunOptions,
  StepWaitOptions,
} from "./durable-step.ts";
import { answered, called, detached, mapped, running, sent, signalled, sleeping, tagged } from "./steps.ts";

/** What the workflow declares for those who answer its code. */
interface Declared {
  readonly waits?: Readonly<Record<string, Schema>> | undefined;
  readonly signals?: Readonly<Record<string, Schema>> | undefined;
}

/** Returns what durable code asks with. Each method makes the request of one step; the methods can be destructured. */
export function durableStep<In, Waits, Signals>(code: Asking, { waits = {}, signals = {} }: Declared): DurableStep<In, Waits, Signals> {
  const ask = (type: string, name: string, definition: NodeDefinition, more: Omit<StepRequest, "name" | "by"> = {}): Promise<never> =>
    code.ask({ name, by: { type, definition }, ...more }) as Promise<never>;
  const step: DurableStep<In, Record<string, unknown>, Record<string, unknown>> = {
    run(name: string, second: StepRunOptions | Perform, third?: Perform) {
      const [options, perform] = typeof second === "function" ? [{}, second] : [second, third];
      if (typeof perform !== "function") return refused(`step "${name}"`, "needs a function: step.run(name, options, fn)");
      return ask("run", name, running(perform), settingsOf(options));
    },
    sleep: (name, time) =>
      timed(time, (ms) =>
        ask(
          "sleep",
          name,
          sleeping((now) => now + ms),
        ),
      ),
    sleepUntil(name, at) {
      const until = judgeTimestamp(at);
      return typeof until === "string"
        ? refused(`time of step "${name}"`, until)
        : ask(
            "sleep",
            name,
            sleeping(() => until),
          );
    },
    waitFor: (name: string, options: StepWaitOptions & Partial<QuorumOptions> = {}) => {
      const schema = own(waits, name);
      return ask("waitFor", name, answered(schema, options), receivedBy(schema, name, options));
    },
    signal: (name: string, options: SignalWaitOptions = {}) => {
      const schema = own(signals, name);
      return ask("signal", name, signalled(schema, name, options), receivedBy(schema, name, options));
    },
    start: (name, workflow, input, options = {}) =>
      ask("start", name, detached(idOf(workflow), input, options), { timeout: options.timeout }),
    call: (name, workflow, input, options = {}) => ask("call", name, called(idOf(workflow), input), { timeout: options.timeout }),
    map: (name, items, workflow, options = {}) => ask("map", name, mapped(idOf(workflow), items, options), { timeout: options.timeout }),
    node: (name, type, data, options = {}) => code.ask({ name, by: type, data, ...settingsOf(options) }) as Promise<never>,
    send: (name, signal) => ask("send", name, sent(signal), { receive: nothing }),
    setMetadata: (name, patch) => ask("setMetadata", name, tagged(patch), { receive: nothing }),
    changed: (name) => code.changed(name),
    now: () => code.now(),
    random: () => seededShare(code.seed()),
    uuid: () => uuidOf(sha256(code.seed())),
    continueAs: (input) => ({ "~continueAs": { input } }),
  };
  return step as DurableStep<In, Waits, Signals>;
}

type Perform = (step: RunningStep) => unknown;

function nothing(): undefined {
  return undefined;
}

function refused(option: string, reason: string): Promise<never> {
  return Promise.reject(new StepfoldError("OPTION_INVALID", { option, reason }));
}

function timed(time: Duration, then: (ms: number) => Promise<never>): Promise<never> {
  try {
    return then(durationMs(time));
  } catch (error) {
    return Promise.reject(error);
  }
}

function settingsOf({ retry, timeout, heartbeatTimeout, undo, incident }: StepRunOptions): Omit<StepRequest, "name" | "by"> {
  return { retry: retry && policyOf(retry), timeout, heartbeatTimeout, undo, incident };
}

/** Policies that were completed before, because the same object means the same policy, which is then read once. */
const policies = new WeakMap<StepRetry, RetryPolicy>();

function policyOf(retry: StepRetry): RetryPolicy {
  const known = policies.get(retry);
  if (known) return known;
  const policy: RetryPolicy = { backoff: "fixed", ...retry };
  policies.set(retry, policy);
  return policy;
}

/** What the code gets of an answer: its payload, read by the schema of the wait; null if the time was over. */
function receivedBy(schema: Schema | undefined, name: string, { quorum }: Partial<QuorumOptions>): Pick<StepRequest, "receive"> {
  if (schema === undefined) return {};
  const read = reading(schema, (issues) => new StepfoldError("RESUME_INVALID", { nodeId: name, issues }));
  if (quorum === undefined) return { receive: (payload) => (payload === null ? null : read(payload)) };
  return { receive: (answers) => (Array.isArray(answers) ? Promise.all(answers.map((one) => withRead(one, read))) : answers) };
}

async function withRead(answer: Json, read: (payload: Json) => unknown): Promise<unknown> {
  const { payload = null, ...rest } = answer as { readonly payload?: Json };
  return { ...rest, payload: await read(payload) };
}

function own(schemas: Readonly<Record<string, Schema>>, name: string): Schema | undefined {
  return Object.hasOwn(schemas, name) ? schemas[name] : undefined;
}

function idOf(workflow: unknown): string {
  return isTyped(workflow) ? workflow.id : (workflow as string);
}

/** Returns the UUID that is made of the digits of a hash (RFC 9562, version 8: the bits are our own). */
function uuidOf(hash: string): string {
  const variant = "89ab"[Number.parseInt(hash[16]!, 16) % 4]!;
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
