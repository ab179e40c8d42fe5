import { openWaits, type Snapshot, type Wait, type WorkflowDefinition } from "stepfold";
import { samplePayload } from "./sample-payload.ts";
import { shellLine } from "./shell-quote.ts";

/** What a command line needs so that it reaches the same execution from the same folder. */
export interface CommandContext {
  /** `["npx", "stepfold"]` */
  readonly program: readonly string[];
  /** `--db` and `--config`, if they are needed. */
  readonly flags: readonly string[];
  /** Of the execution; null if unknown. */
  readonly definition: WorkflowDefinition | null;
  /** Payload schemas of node types, for waits that carry none. */
  readonly resumeSchema: (nodeType: string) => unknown;
}

/** An open wait, and the command that answers it. */
export interface Answerable {
  readonly waitId: string;
  readonly nodeId: string;
  readonly wait: Wait;
  readonly command: string;
}

/** Every wait that somebody could answer, with the exact command for each. */
export function answerable(snapshot: Snapshot, context: CommandContext): Answerable[] {
  const waits = openWaits(snapshot);
  return waits.map(({ path, wait }) => {
    const others = waits.filter((one) => one.path.nodeId === path.nodeId).length > 1;
    // a node that is visited again waits again: the command, repeated, must not answer the next wait
    const exact = others || isOnCycle(path.nodeId, context.definition);
    const target = exact ? ["--wait", wait.id] : waits.length > 1 ? ["--node", path.nodeId] : [];
    const payload = payloadWords(wait, path.nodeId, context);
    return {
      waitId: wait.id,
      nodeId: path.nodeId,
      wait,
      command: commandLine(context, "resume", snapshot.workflowId, [...target, ...payload]),
    };
  });
}

/** `npx stepfold VERB ARGUMENT --options`, quoted. */
export function commandLine({ program, flags }: CommandContext, verb: string, argument: string, options: readonly string[] = []): string {
  const words = [...options, ...flags];
  return shellLine(argument.startsWith("-") ? [...program, verb, ...words, "--", argument] : [...program, verb, argument, ...words]);
}

function payloadWords({ schema }: Wait, nodeId: string, { definition, resumeSchema }: CommandContext): string[] {
  const type = definition?.nodes.find(({ id }) => id === nodeId)?.type;
  const wanted = schema ?? (type === undefined ? undefined : resumeSchema(type));
  if (wanted === undefined || wanted === null) return [];
  // a Standard Schema says no more about itself than that it is there
  if (typeof wanted !== "object" || "~standard" in wanted) return ["--payload", "{}"];
  return ["--payload", JSON.stringify(samplePayload(wanted))];
}

function isOnCycle(nodeId: string, definition: WorkflowDefinition | null): boolean {
  if (!definition) return true;
  const reached = new Set<string>();
  const next = [nodeId];
  for (let from = next.pop(); from !== undefined; from = next.pop()) {
    for (const { source, target } of definition.edges) {
      if (source !== from || reached.has(target)) continue;
      if (target === nodeId) return true;
      reached.add(target);
      next.push(target);
    }
  }
  return false;
}
