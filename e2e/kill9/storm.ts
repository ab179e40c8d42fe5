import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet, Member } from "./fleet.ts";
import { type Kill, type Recovery, recoveries } from "./recovery.ts";
import { type Run, type RunOptions, run } from "./run.ts";
import { seeded } from "./seeded.ts";
import type { Target } from "./stored.ts";

/** The options of a run with kills. */
export interface StormOptions extends RunOptions {
  readonly kills: number;
  readonly seed: number;
}

/** The result of a run with kills. */
export interface Storm extends Run<readonly Kill[]> {
  readonly recovery: Recovery;
}

/** The shortest and longest time between two kills, in milliseconds. */
const shortestMs = 40;
const longestMs = 400;

/** The code of every second worker is of another kind: it can run neither the graphs that ask clients, nor one of the workflows in code. */
const secondWorker = { lacks: ["ask", "coded-rounds"] };

/** Kills processes at random moments while they work, and replaces each of them by one with the same code. */
export async function storm({ kills, seed, ...options }: StormOptions): Promise<Storm> {
  const { target, tell = () => undefined } = options;
  const random = seeded(seed);
  const ended = await run({ secondWorker, ...options }, async (fleet) => {
    const made: Kill[] = [];
    while (made.length < kills) {
      await sleep(shortestMs + random() * (longestMs - shortestMs));
      // if several processes are still starting, there is no kill: on a slow machine processes would never get beyond their start
      if ([...fleet.members].filter(({ ready }) => !ready).length > 1) continue;
      const victim = chosen(fleet, random);
      if (!victim) continue;
      made.push(await killed(fleet, victim, target));
      if (victim.kind === "worker") fleet.worker();
      else fleet.client(victim.name);
      if (made.length % 50 === 0) tell(`${made.length} kills, ${await target.countOpen()} executions under way`);
    }
    return made;
  });
  return { ...ended, recovery: recoveries(ended.lines, ended.made) };
}

/** Chooses a process that works: in most cases a worker, otherwise a client. */
function chosen({ members }: Fleet, random: () => number): Member | undefined {
  const kind = random() < 0.15 ? "client" : "worker";
  const ready = [...members].filter((member) => member.ready && member.kind === kind);
  return ready[Math.floor(random() * ready.length)];
}

async function killed(fleet: Fleet, victim: Member, target: Target): Promise<Kill> {
  const at = Date.now();
  await fleet.kill(victim);
  return { at, name: victim.name, held: victim.kind === "worker" ? await target.heldBy(victim.name) : [] };
}
