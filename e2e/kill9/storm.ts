import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet, Member } from "./fleet.ts";
import { type Kill, type Recovery, recoveries } from "./recovery.ts";
import { type Run, type RunOptions, run } from "./run.ts";
import { seeded } from "./seeded.ts";
import type { Target } from "./stored.ts";

/** How hard a run is. */
export interface StormOptions extends RunOptions {
  readonly kills: number;
  readonly seed: number;
}

/** What a run came to. */
export interface Storm extends Run<readonly Kill[]> {
  readonly recovery: Recovery;
}

/** Between two kills. */
const shortestMs = 40;
const longestMs = 400;

/** Kills processes at random moments while they work, and starts others. */
export async function storm({ kills, seed, ...options }: StormOptions): Promise<Storm> {
  const { target, tell = () => undefined } = options;
  const random = seeded(seed);
  const ended = await run(options, async (fleet) => {
    const made: Kill[] = [];
    while (made.length < kills) {
      await sleep(shortestMs + random() * (longestMs - shortestMs));
      // on a machine that is slow to start them they would do nothing but start
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

/** One of those that work; mostly a worker. */
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
