import { expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { SnapshotStore } from "../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import type { Random } from "../../src/testing/simulation/random.ts";
import type { Scenario, SimulatedClient } from "../../src/testing/simulation/scenario.ts";
import { simulate } from "../../src/testing/simulation/simulate.ts";
import { flow } from "../nodes/workflow.fixture.ts";

/**
 * A workflow that first waits for the signal "go". In each round it sends a note to an actor, and at the same moment goes on with its
 * next run. After the last round it waits for the signal "stop".
 */
const actor = flow(
  "actor",
  {
    fresh: ["if", { condition: "{{ input.isFresh == true }}" }],
    go: ["signal", { name: "go" }],
    begin: ["if", { condition: "{{ input.tells.length > 0 }}" }],
    tell: ["sendSignal", { to: "{{ input.tells[0] }}", name: "note", payload: "{{ input.name + input.tells.length }}" }],
    again: ["end", { continueAs: { input: { name: "{{ input.name }}", tells: "{{ input.tells.slice(1) }}" } } }],
    listen: ["signal", { name: "stop" }],
  },
  ["fresh>go@true", "go>begin", "fresh>begin@false", "begin>tell@true", "begin>again@true", "begin>listen@false"],
);
const names = ["a", "b", "c"];
const mostRounds = 4;

function actors(random: Random): Scenario {
  let store: SnapshotStore;
  const tells = new Map(
    names.map((name) => [name, Array.from({ length: random.between(1, mostRounds) }, () => random.pick(names))] as const),
  );
  return {
    store: ({ now }) => {
      store = memoryStore({ now });
      return store;
    },
    workflows: [actor] as never,
    nodeDefinitions: builtinNodes,
    runtime: { may: () => true },
    clients: [
      async (client) => {
        for (const [name, told] of tells)
          await client.runtime.start("actor", { workflowId: name, input: { name, tells: told, isFresh: true } });
        for (const name of names) await (await client.runtime.get(name)).signal("go", null, { idempotencyKey: "go" });
        await untilListening(client);
        const events = (await Promise.all(names.map((name) => store.events(name, -1, 1_000)))).flat().map(({ event }) => event);
        const sent = events.flatMap((event) => (event.type === "suspended" && event.signal ? [event.signal.payload] : []));
        const heard = events.flatMap((event) => (event.type === "signalled" && event.name === "note" ? [event.payload] : []));
        const [told, arrived] = [sent, heard].map((notes) => notes.toSorted().join());
        if (told !== arrived) throw new RangeError(`${told} was told, and ${arrived} was heard`);
        for (const name of names) await (await client.runtime.get(name)).signal("stop", null, { idempotencyKey: "stop" });
      },
    ],
  };
}

/** Waits until each actor listens in its last run, and all its notes have arrived. */
async function untilListening({ runtime, sleep }: SimulatedClient): Promise<void> {
  for (const name of names) {
    const run = await runtime.get(name);
    for (;;) {
      const { activePaths, outbox, status } = await run.snapshot();
      // a client that was restarted finds actors that it has stopped
      if (status === "completed") break;
      if (!outbox && activePaths.some(({ nodeId, status }) => nodeId === "listen" && status === "suspended")) break;
      await sleep(200);
    }
  }
}

it("actors that tell one another something, and go on with their next runs meanwhile, hear everything once", {
  timeout: 300_000,
}, async () => {
  const { failures } = await simulate(actors, { schedules: tries(40) });
  expect(failures.map(({ outcome, options }) => [options, outcome.violations])).toEqual([]);
});
