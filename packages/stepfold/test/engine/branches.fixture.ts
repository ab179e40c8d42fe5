import type { Event } from "../../src/core/snapshot/event.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { apply } from "../../src/core/transition/apply.ts";
import { begin } from "../../src/core/transition/begin.ts";
import { closeDraft } from "../../src/core/transition/draft/close-draft.ts";
import { plan, type Task } from "../../src/core/transition/plan.ts";
import { defaultLimits } from "../../src/core/values/limits.ts";
import { type Command, decide } from "../../src/engine/commands/command.ts";
import { prepareWorkflow } from "../../src/engine/workflow/prepared-workflow.ts";

/** What may happen to one branch: its moves, in order. The move `try` is an attempt that fails and is retried. */
export const acts = {
  completes: ["complete"],
  fails: ["fail"],
  cancelled: ["cancel"],
  resumes: ["suspend", "resume", "complete"],
  resumesAndFails: ["suspend", "resume", "fail"],
  cancelledWhileItWaits: ["suspend", "cancel"],
  cancelledOnceResumed: ["suspend", "resume", "cancel"],
  retries: ["try", "complete"],
  cancelledBeforeItsRetry: ["try", "cancel"],
} as const;
export type Act = keyof typeof acts;
export type Move = (typeof acts)[Act][number];

/**
 * How the branches are joined. `all`, `stop` and `finish` join all branches; `ignore` and `cancel` join all but one and ignore or cancel
 * the last one. With `stop` and `finish` a failed branch has no `error` edge to the join, so the execution fails: at once with `stop`,
 * after the other branches have ended with `finish`.
 */
export type Join = "all" | "ignore" | "cancel" | "stop" | "finish";

/** A time at which every retry is due. */
const late = 1_000_000;
const at = 1_000;

/** A fork into n branches that meet at `j`. */
export class Fan {
  readonly #prepared: ReturnType<typeof prepareWorkflow>;
  readonly #catches: boolean;

  constructor(n: number, join: Join) {
    this.#catches = join !== "stop" && join !== "finish";
    const numeric = join === "ignore" || join === "cancel";
    const branches = Array.from({ length: n }, (_, i) => `b${i}`);
    const node = { executor: () => ({ data: null }) };
    const workflow = {
      id: "fan",
      nodes: [
        { id: "f", type: "node" },
        ...branches.map((id) => ({ id, type: "node" })),
        { id: "j", type: "node", ...(numeric ? { join: n - 1, late: join } : { join: "all" }) },
      ],
      edges: branches.flatMap((id) => [
        { source: "f", target: id },
        { source: id, target: "j" },
        ...(this.#catches ? [{ source: id, target: "j", sourceHandle: "error" }] : []),
      ]),
      ...(join === "finish" && { onFailure: join }),
    };
    this.#prepared = prepareWorkflow(workflow, { node }, defaultLimits);
  }

  /** Returns the snapshot after the fork, in which every branch is ready. */
  start(): Snapshot {
    const { compiled } = this.#prepared;
    const definition = { id: compiled.definition.id, hash: compiled.hash };
    const begun = closeDraft(begin(compiled, { type: "started", version: 0, at, workflowId: "w", definition, nodeId: "f", metadata: {} }));
    return this.apply(begun, this.#outcome(begun, "f", "complete")!);
  }

  /** The event of a move of a branch. Null if the execution does not allow the move any more. */
  async event(snapshot: Snapshot, node: string, move: Move): Promise<Event | null> {
    if (move === "resume") return this.#told(snapshot, { type: "resume", target: node, payload: `for ${node}` });
    if (move === "cancel") return this.#told(snapshot, { type: "cancel", target: node });
    return this.#outcome(snapshot, node, move);
  }

  /** The event that completes the join node; its output lists the results of the joined branches. Null if the join has not fired. */
  joined(snapshot: Snapshot): Event | null {
    return this.#outcome(snapshot, "j", "complete");
  }

  apply(snapshot: Snapshot, event: Event): Snapshot {
    return apply(this.#prepared.compiled, snapshot, event);
  }

  async #told(snapshot: Snapshot, command: Command): Promise<Event | null> {
    // other tests check the errors of refused commands
    return decide(this.#prepared, snapshot, command, at, defaultLimits).catch(() => null);
  }

  #outcome(snapshot: Snapshot, node: string, move: Exclude<Move, "resume" | "cancel">): Event | null {
    const task = plan(snapshot, late).find(({ nodeId }) => nodeId === node);
    if (!task) return null;
    const { pathId, turn, nodeId, attempt } = task;
    const step = { version: snapshot.version + 1, at, pathId, turn, nodeId, attempt, startedAt: at };
    if (move === "complete") return { type: "completed", ...step, output: outputOf(snapshot, task) };
    if (move === "suspend") return { type: "suspended", ...step, waits: [{ id: `${pathId}@${turn + 1}`, kind: "external" }] };
    const error = { name: "Error", message: `${node} ${move}`, nodeId };
    if (move === "try") return { type: "failed", ...step, error, retryAt: at + 1 };
    return { type: "failed", ...step, error, retryAt: null, ...(this.#catches && { handle: "error" }) };
  }
}

function outputOf(snapshot: Snapshot, { nodeId, inputs, resumed }: Task): string | string[] {
  if (!inputs) return typeof resumed?.payload === "string" ? `${nodeId} done ${resumed.payload}` : `${nodeId} done`;
  return inputs.map((ref) => {
    const result = snapshot.context[ref.nodeId]?.find(({ version }) => version === ref.version);
    return result?.error ?? String(result?.output);
  });
}
