import type { Event } from "../../packages/stepfold/src/core/snapshot/event.ts";
import { isTerminal, type Snapshot } from "../../packages/stepfold/src/core/snapshot/snapshot.ts";
import { seededShare } from "../../packages/stepfold/src/core/values/hash/seeded.ts";
import { defineDurable } from "../../packages/stepfold/src/durable/define-durable.ts";
import type { AnyTyped } from "../../packages/stepfold/src/engine/node/typed.ts";
import type { Random } from "../../packages/stepfold/src/testing/simulation/random.ts";
import type { Scenario } from "../../packages/stepfold/src/testing/simulation/scenario.ts";
import { livesOf, undoing } from "./lives.ts";

/** Returns executions of code that live long, as those of `randomLives` do. What undoes their steps is checked too. */
export function randomCodeLives(random: Random): Scenario {
  const service = new Service();
  const scenario = livesOf(random, (id, chance) => codeLife(id, chance, service));
  return {
    ...scenario,
    check: (ended) => [...scenario.check!(ended), ...wrongUndo(ended.snapshot, ended.events)],
  };
}

/** What the steps call. It is no part of any process, and lives on when they die. */
class Service {
  readonly #failures = new Map<string, number>();

  /** Fails twice at most under one key. */
  call(name: string, key: string): string {
    const failures = this.#failures.get(key) ?? 0;
    if (failures === 2 || seededShare(`${key} ${failures}`) > 0.3) return name;
    this.#failures.set(key, failures + 1);
    throw new TypeError(`${name} fails`);
  }
}

/** The same as the graph of `lifeOf`: steps, a map, a wait for a signal, and a detached execution, all at once. */
function codeLife(id: string, random: Random, service: Service): AnyTyped {
  const undo = (name: string): object => (random.chance(0.6) ? { undo: { type: "undo", data: name } } : {});
  const [ofA, ofB] = [undo("a"), undo("b")];
  const tolerated = random.chance(0.3) ? { toleratedFailures: 1 } : {};
  const detached = random.chance(0.3);
  const runs = random.between(1, 3);
  const item = defineDurable({
    id: `${id}-item`,
    async run({ step }) {
      await step.run("first", (sub) => service.call("first", sub.idempotencyKey));
      return step.run("second", ofB, (sub) => service.call("second", sub.idempotencyKey));
    },
    nodes: { undo: undoing },
  });
  return defineDurable({
    id,
    signals: { go: true },
    nodes: { undo: undoing },
    workflows: [item],
    async run({ input, step }) {
      const { run = 1 } = (input ?? {}) as { readonly run?: number };
      const act = (name: string, options = {}): Promise<string> => step.run(name, options, (sub) => service.call(name, sub.idempotencyKey));
      await act("a", ofA);
      await Promise.all([
        act("b", ofB),
        step.map("each", [1, 2, 3] as never[], item, { concurrency: 2, ...tolerated }),
        step.signal("go", { key: ".0" }),
        detached && step.start("child", `${id}-child`, {} as never),
      ]);
      await act("join");
      if (run < runs) return step.continueAs({ run: run + 1 } as never);
      return act("end");
    },
  });
}

/** I28: the steps of an execution are undone once for each end, the newest first, and none that has completed is left out. */
function* wrongUndo({ status, restarts, context, from }: Snapshot, events: readonly Event[]): Generator<string> {
  let undone: number[] = [];
  for (const event of events) {
    if (event.type === "restarted") undone = [];
    // a step that has not completed may have had an effect, and has no version
    if (event.type === "completed" && event.undoes?.version !== undefined && event.undoes.scope === undefined)
      undone.push(event.undoes.version);
  }
  if (undone.some((version, i) => i > 0 && version >= undone[i - 1]!)) yield `I28 it has undone the steps of versions ${undone}`;
  if (!isTerminal(status) || status === "completed" || restarts !== undefined || from) return;
  for (const { undo, version } of Object.values(context).flat())
    if (undo && !undone.includes(version)) yield `I28 it is ${status}, and the step of version ${version} is not undone`;
}
