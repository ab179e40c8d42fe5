import { expect } from "vitest";
import type { SnapshotStore } from "../../src/ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../src/testing/index.ts";

/** Sends eight commits at once on each version of one execution, over two handles, and expects that exactly one of them is made. */
export async function oneOfEightWins(stores: readonly [SnapshotStore, SnapshotStore], rounds = 200): Promise<void> {
  let last = startCommit("rounds");
  await stores[0].create(last);
  for (let round = 0; round < rounds; round++) {
    const commits = Array.from({ length: 8 }, (_, index) => stepCommit(last, { output: [round, index] }));
    const settled = await Promise.allSettled(commits.map((commit, index) => stores[index % 2]!.commit(commit)));
    const winners = commits.filter((_, index) => settled[index]!.status === "fulfilled");
    expect(winners.length, `round ${round}`).toBe(1);
    for (const one of settled) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "VERSION_CONFLICT" });
    last = winners[0]!;
  }
  const rows = await stores[1].events("rounds", -1, rounds + 2);
  expect(rows.map(({ version }) => version)).toEqual(Array.from({ length: rounds + 1 }, (_, index) => index));
  expect(rows.at(-1)?.commitId).toBe(last.commitId);
  expect((await stores[0].load("rounds"))?.version).toBe(rounds);
}
