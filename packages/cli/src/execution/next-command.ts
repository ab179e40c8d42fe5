import { type CompiledNode, type CompiledWorkflow, type Snapshot, type WaitInfo, waits } from "stepfold";
import { isInCycle, parentKey, workflowOf } from "stepfold/core";
import { samplePayload } from "./sample-payload.ts";
import { shellLine } from "./shell-quote.ts";

/** What a command line needs so that it reaches the same execution from the same folder. */
export interface CommandContext {
  /** `["npx", "stepfold"]` */
  readonly program: readonly string[];
  /** `--store` and `--config`, if they are needed. */
  readonly flags: readonly string[];
  /** Of the execution; null if unknown. */
  readonly workflow: CompiledWorkflow | null;
  /** Payload schemas of node types, for waits that carry none. */
  readonly resumeSchema: (nodeType: string) => unknown;
  /** The current user: the name in the commands for waits that several people may answer. */
  readonly user: string;
}

/** An open wait, and what ends it. */
export interface Answerable {
  readonly wait: WaitInfo;
  /** The exact command that answers it, or shows the execution that can; null where only time can. */
  readonly command: string | null;
}

/** Every open wait, with the exact command for each that can be answered. */
export function answerable(snapshot: Snapshot, context: CommandContext): Answerable[] {
  const open = waits(snapshot);
  const commandOf = commandsFor(snapshot, open, context);
  return open.map((wait) => ({ wait, command: commandOf(wait) }));
}

/** Makes the commands that answer waits. @param open all waits of the snapshot: they tell what has to be named */
export function commandsFor(snapshot: Snapshot, open: readonly WaitInfo[], context: CommandContext): (wait: WaitInfo) => string | null {
  const { workflowId } = snapshot;
  const { workflow, resumeSchema } = context;
  const nodeAt = (scope: string, nodeId: string): CompiledNode | undefined =>
    workflow ? workflowOf(workflow, snapshot, scope)?.nodes.get(nodeId) : undefined;
  const inCycle = new Map<CompiledNode, boolean>();
  /** Whether a path can come to a node again; one of an unknown workflow may do anything. */
  const comesAgain = (node: CompiledNode | undefined): boolean => {
    if (!node) return true;
    const known = inCycle.get(node) ?? isInCycle(node);
    inCycle.set(node, known);
    return known;
  };
  const external = open.filter(({ kind }) => kind === "external");
  const places = new Map<string, number>();
  for (const { address } of external) places.set(address, (places.get(address) ?? 0) + 1);

  /** Whether the execution may come to this place, or one around it, again: then the address does not name this wait for good. */
  const mayWaitAgain = ({ id, address }: WaitInfo): boolean => {
    let scope = parentKey(id);
    for (const step of address.split("/").reverse()) {
      if (comesAgain(nodeAt(scope, step.replace(/\[\d+\]$/, "")))) return true;
      scope = parentKey(scope);
    }
    return false;
  };
  const payloadWords = ({ id, nodeId, schema }: WaitInfo): string[] => {
    const type = nodeAt(parentKey(id), nodeId)?.node.type;
    const wanted = schema ?? (type === undefined ? undefined : resumeSchema(type));
    if (wanted === undefined || wanted === null) return [];
    // nothing can be read from a Standard Schema, so the sample is empty
    if (typeof wanted !== "object" || "~standard" in wanted) return ["--payload", "{}"];
    return ["--payload", JSON.stringify(samplePayload(wanted))];
  };
  const targetWords = (wait: WaitInfo): string[] => {
    // a command that is given twice must not answer the next wait
    if (places.get(wait.address)! > 1 || mayWaitAgain(wait)) return ["--wait", wait.id];
    return external.length > 1 || wait.address.includes("/") ? ["--step", wait.address] : [];
  };
  return (wait) => {
    const { answer } = wait;
    // it waits for another execution, so the command shows that one
    if (wait.workflowId !== undefined) return commandLine(context, "show", [wait.workflowId]);
    if (!answer) return null;
    if (answer.type === "resume")
      return commandLine(
        context,
        "resume",
        [workflowId],
        [...targetWords(wait), ...payloadWords(wait), ...responderWords(wait, context.user)],
      );
    const key = answer.key === undefined ? [] : ["--key", answer.key];
    return commandLine(context, "signal", [workflowId, answer.name], [...key, ...payloadWords(wait)]);
  };
}

/** `npx stepfold VERB ARGUMENTS --options`, quoted. */
export function commandLine(
  { program, flags }: Pick<CommandContext, "program" | "flags">,
  verb: string,
  args: readonly string[],
  options: readonly string[] = [],
): string {
  const words = [...options, ...flags];
  return shellLine(
    args.some((arg) => arg.startsWith("-")) ? [...program, verb, ...words, "--", ...args] : [...program, verb, ...args, ...words],
  );
}

function responderWords({ responders, answered = [], missing }: WaitInfo, user: string): string[] {
  if (!responders && missing === undefined) return [];
  const left = (responders ?? [user, "NAME"]).find((name) => !answered.includes(name));
  return left === undefined ? [] : ["--by", left];
}
