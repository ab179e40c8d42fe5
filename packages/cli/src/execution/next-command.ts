import { type CompiledNode, type CompiledWorkflow, type Snapshot, type WaitInfo, waits } from "stepfold";
import { isInCycle, parentKey, workflowOf } from "stepfold/core";
import { samplePayload } from "./sample-payload.ts";
import { shellLine } from "./shell-quote.ts";

/** What is needed to print a command that reaches the same execution from the same folder. */
export interface CommandContext {
  /** The words that call this program, such as `["npx", "stepfold"]`. */
  readonly program: readonly string[];
  /** `--store` and `--config`, if they are needed. */
  readonly flags: readonly string[];
  /** The workflow of the execution; null if it is unknown. */
  readonly workflow: CompiledWorkflow | null;
  /** Returns the payload schema of a node type, for waits that hold no schema. */
  readonly resumeSchema: (nodeType: string) => unknown;
  /** The name of the current user. Commands use it if a wait needs to know who answers but lists no responders. */
  readonly user: string;
}

/** An open wait, and the command that ends it. */
export interface Answerable {
  readonly wait: WaitInfo;
  /** The exact command that answers the wait, or shows the other execution that it waits for; null if no command can end it. */
  readonly command: string | null;
}

/** Returns every open wait, with the exact command for each that can be answered. */
export function answerable(snapshot: Snapshot, context: CommandContext): Answerable[] {
  const open = waits(snapshot);
  const commandOf = commandsFor(snapshot, open, context);
  return open.map((wait) => ({ wait, command: commandOf(wait) }));
}

/** Returns a function that makes the command for a wait. @param open all waits of the snapshot: the command must name its wait clearly */
export function commandsFor(snapshot: Snapshot, open: readonly WaitInfo[], context: CommandContext): (wait: WaitInfo) => string | null {
  const { workflowId } = snapshot;
  const schedule = /^schedule:(.+)$/.exec(workflowId)?.[1];
  const { workflow, resumeSchema } = context;
  const nodeAt = (scope: string, nodeId: string): CompiledNode | undefined =>
    workflow ? workflowOf(workflow, snapshot, scope)?.nodes.get(nodeId) : undefined;
  const inCycle = new Map<CompiledNode, boolean>();
  /** Whether a path can come to a node again; true if the workflow is unknown. */
  const comesAgain = (node: CompiledNode | undefined): boolean => {
    if (!node) return true;
    const known = inCycle.get(node) ?? isInCycle(node);
    inCycle.set(node, known);
    return known;
  };
  const resumable = open.filter(({ answer }) => answer?.type === "resume");
  // the number of waits at each address that `resume` can answer
  const places = new Map<string, number>();
  for (const { address } of resumable) places.set(address, (places.get(address) ?? 0) + 1);

  /** Whether the execution may come to this place, or one around it, again: then its address may name another wait later. */
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
    return resumable.length > 1 || wait.address.includes("/") ? ["--step", wait.address] : [];
  };
  return (wait) => {
    const { answer } = wait;
    // the wait ends with another execution, so the command shows that execution
    if (wait.workflowId !== undefined) return commandLine(context, "show", [wait.workflowId]);
    if (!answer) return null;
    if (answer.type === "resume")
      return commandLine(
        context,
        "resume",
        [workflowId],
        [...targetWords(wait), ...payloadWords(wait), ...responderWords(wait, context.user)],
      );
    // only the commands for schedules tell a schedule something
    if (schedule !== undefined) return commandLine(context, "schedule", ["show", schedule]);
    const key = answer.key === undefined ? [] : ["--key", answer.key];
    return commandLine(context, "signal", [workflowId, answer.name], [...key, ...payloadWords(wait)]);
  };
}

/** Makes a quoted command line: `npx stepfold VERB ARGUMENTS --options`. */
export function commandLine(
  { program, flags }: Pick<CommandContext, "program" | "flags">,
  verb: string,
  args: readonly string[],
  options: readonly string[] = [],
): string {
  const words = [...options, ...flags];
  // arguments that look like options must come last, behind "--"
  return shellLine(
    args.some((arg) => arg.startsWith("-")) ? [...program, verb, ...words, "--", ...args] : [...program, verb, ...args, ...words],
  );
}

/** Returns `--by NAME` if the wait needs to know who answers: the first responder who has not answered yet. */
function responderWords({ responders, answered = [], missing }: WaitInfo, user: string): string[] {
  if (!responders && missing === undefined) return [];
  const left = (responders ?? [user, "NAME"]).find((name) => !answered.includes(name));
  return left === undefined ? [] : ["--by", left];
}
