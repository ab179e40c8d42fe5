import type { Edge, Node, WorkflowDefinition } from "../../src/core/definition/definition.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { isTerminal, type Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { openWaits } from "../../src/core/transition/find-wait.ts";
import { hash32 } from "../../src/core/values/hash/seeded.ts";
import type { Json } from "../../src/core/values/json.ts";
import type { Command } from "../../src/engine/commands/command.ts";
import type { NodeDefinition } from "../../src/engine/node/node-definition.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { VirtualEnvironment } from "../engine/virtual-environment.fixture.ts";

const policy = { maxAttempts: 3, interval: 1_000, backoff: "exponential" as const, jitter: 0.2 };
const compensate = { type: "dice", retryPolicy: policy };

function flow(id: string, nodes: readonly Node[], ways: readonly string[], more: Partial<WorkflowDefinition> = {}): WorkflowDefinition {
  const edges = ways.map((way): Edge => {
    const [, source, target, sourceHandle] = /^(\w+)>(\w+)(?:@(\w+))?$/.exec(way)!;
    return sourceHandle === undefined ? { source: source!, target: target! } : { source: source!, target: target!, sourceHandle };
  });
  return { id, nodes, edges, ...more };
}

const leaf = flow(
  "leaf",
  [
    { id: "pay", type: "dice", compensate },
    { id: "sleep", type: "wait", data: { for: "1h" } },
  ],
  ["pay>sleep"],
);

const item = flow(
  "item",
  [
    { id: "charge", type: "dice", compensate, retryPolicy: policy },
    { id: "ask", type: "sometimes" },
    { id: "inner", type: "workflow", data: { workflow: "leaf", input: 1 } },
    { id: "each", type: "map", data: { workflow: "leaf", items: [1, 2], concurrency: 1, toleratedFailures: "60%" } },
    { id: "all", type: "dice", join: "all" },
  ],
  ["charge>ask", "ask>inner", "ask>each", "inner>all", "each>all", "inner>all@error", "each>all@error"],
);

/** A workflow whose snapshots hold all that a snapshot can hold: every kind of branch, join and wait, maps, children, compensations. */
const everything = flow(
  "everything",
  [
    { id: "f", type: "dice" },
    {
      id: "approve",
      type: "approval",
      data: { responders: ["ada", "bob", "cy"], quorum: 2, timeout: "2h", details: { of: "{{ input }}" } },
    },
    { id: "race", type: "race", data: { signals: [{ name: "go" }, { name: "stop", key: "k" }], timer: { for: "3h" }, answer: {} } },
    {
      id: "many",
      type: "map",
      data: { workflow: "item", items: [1, 2, 3, 4], concurrency: 2, completeWhen: 3, remaining: "finish", toleratedFailures: "60%" },
    },
    { id: "open", type: "map", data: { workflow: "leaf", items: [7], open: true } },
    { id: "sub", type: "workflow", data: { workflow: "item" } },
    { id: "flaky", type: "dice", retryPolicy: policy, compensate },
    { id: "one", type: "sometimes", mutex: "m" },
    { id: "two", type: "dice", mutex: "m" },
    { id: "moment", type: "dice", when: "nodes.flaky.all.length > 1" },
    { id: "block", type: "dice", join: 2, late: "block" },
    { id: "some", type: "dice", join: 2, late: "ignore", cancels: ["moment"] },
    { id: "first", type: "dice", join: 1, late: "cancel" },
    { id: "all", type: "dice", join: "all", keep: 2 },
    { id: "again", type: "back" },
    { id: "end", type: "dice" },
  ],
  [
    ..."f>approve f>race f>many f>open f>sub f>flaky f>one f>two f>moment".split(" "),
    ..."approve>block@approved approve>block@rejected approve>block@timeout race>block race>block@go race>block@stop race>block@timer".split(
      " ",
    ),
    ..."race>block@answer flaky>some flaky>some@error one>some two>some moment>some many>first many>first@error open>first".split(" "),
    ..."sub>all sub>all@error block>all some>all first>all block>all@error some>all@error all>again again>f@back again>end".split(" "),
  ],
  { start: "f", workflows: { item, leaf } },
);

/** A random execution of this workflow. The same seed gives the same execution. */
export class RandomExecution {
  readonly engine: WorkflowEngine<Record<string, NodeDefinition>>;
  readonly clock: VirtualEnvironment = new VirtualEnvironment();
  readonly #seed: number;
  #thrown = 0;

  constructor(seed: number) {
    this.#seed = seed;
    const failing = seed % 3 === 0 ? 0.06 : 0.25;
    const dice: NodeDefinition = {
      executor: (_, { nodeId, idempotencyKey, attempt }) => {
        if (hash32(`${seed}/${nodeId}/${idempotencyKey}/${attempt}`) / 2 ** 32 < failing) throw new TypeError("dice");
        return { data: { nodeId, attempt } };
      },
    };
    const sometimes: NodeDefinition = {
      executor: (_, step) => {
        const fate = hash32(`${seed}/${step.nodeId}/${step.idempotencyKey}`) % 5;
        if (step.resumed || fate === 0) return { data: step.externalPayload ?? null };
        if (fate === 1) return step.suspend("a signal", { signal: "go", timeout: 4_000_000 });
        return step.suspend({ asks: step.nodeId }, { schema: { type: ["object", "null"] } });
      },
    };
    const back: NodeDefinition = {
      handles: ["", "back"],
      executor: (_, { idempotencyKey, context }) =>
        hash32(`${seed}/${idempotencyKey}`) % 3 === 0 && (context.all?.length ?? 0) < 3
          ? { data: null, nextHandle: "back" }
          : { data: null, nextHandle: "" },
    };
    this.engine = new WorkflowEngine({
      workflow: everything,
      nodeDefinitions: { ...builtinNodes, dice, sometimes, back } as unknown as Record<string, NodeDefinition>,
      environment: this.clock,
      limits: { steps: 400 },
    });
  }

  pick<T>(choices: readonly T[]): T {
    return choices[hash32(`${this.#seed}:${this.#thrown++}`) % choices.length]!;
  }

  /** Drives the execution by random commands and slices, at most `most` of them, and gives each snapshot to `seen`. */
  async drive(seen: (snapshot: Snapshot) => void, most = 40): Promise<void> {
    let snapshot = await this.engine.execute({ workflowId: "w", input: { n: 1 }, metadata: { m: 1 }, stepLimit: this.pick([1, 3, 20]) });
    for (let i = 0; i < most; i++) {
      seen(snapshot);
      if (isTerminal(snapshot.status)) return;
      snapshot = await this.#move(snapshot);
    }
  }

  async #move(snapshot: Snapshot): Promise<Snapshot> {
    if (this.pick([0, 0, 0, 1]) === 0) {
      this.clock.set(this.clock.now() + this.pick([0, 1_000, 600_000, 3_700_000]));
      return this.engine.execute({ snapshot, stepLimit: this.pick([1, 2, 5, 50]), concurrency: this.pick([1, 4]) });
    }
    return refusable(snapshot, () => this.engine.send(snapshot, this.#command(snapshot)));
  }

  #command(snapshot: Snapshot): Command {
    if (this.pick([0, 1, 2, 3, 4, 5]) === 0) return { type: "cancel", target: this.#place(snapshot) };
    const waits = openWaits(snapshot);
    const commands: Command[] = [
      { type: "signal", name: "go" },
      { type: "signal", name: "stop", key: "k", payload: [1] },
      { type: "addItem", node: "open", item: 8 },
      this.pick([0, 0, 0, 1]) === 0 ? { type: "closeMap", node: "open" } : { type: "completeMap", node: "many" },
    ];
    if (waits.length > 0) {
      const { wait, path } = this.pick(waits);
      const payload: Json = path.nodeId === "approve" ? { approved: this.pick([true, true, false]) } : this.pick([{ a: 1 }, null]);
      const answer: Command = { type: "resume", target: wait.id, payload, by: this.pick(["ada", "bob", "cy"]) };
      return this.pick([answer, answer, answer, ...commands]);
    }
    if (this.pick([0, 1, 2, 3, 4, 5, 6]) === 0) commands.push({ type: "cancel" });
    return this.pick(commands);
  }

  /** Picks a node to cancel, from the open paths of the execution and of its children. */
  #place(snapshot: Snapshot): string {
    const children = Object.values(snapshot.childStates ?? {});
    return this.pick([snapshot, ...children].flatMap(({ activePaths }) => activePaths)).nodeId;
  }
}

/** Returns the snapshot that a call gives, or `before` if the call is refused. */
export async function refusable(before: Snapshot, call: () => Promise<Snapshot>): Promise<Snapshot> {
  try {
    return await call();
  } catch (error) {
    if (!StepfoldError.is(error)) throw error;
    return before;
  }
}
