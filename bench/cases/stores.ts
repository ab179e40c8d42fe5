import { countedStores, loopedBytes, loopTimes } from "../counted-stores.ts";
import type { Group, Row } from "../group.ts";
import { libraryOf, ownCheckout } from "../library.ts";
import { type Sample, spread } from "../measure.ts";

const window = 1_000;

type StoreName = Exclude<keyof typeof countedStores, "sqlite" | "upstash">;

/**
 * Runs the loop with one commit per step: measures the bytes of its parameters, and the time of a step near the beginning and at the
 * end.
 */
async function looped(name: StoreName): Promise<Sample> {
  const library = libraryOf(ownCheckout);
  const at = new Float64Array(loopTimes);
  const bytes = await loopedBytes(library, await countedStores[name](library), (step) => {
    at[step] = performance.now();
  });
  const took = (from: number): number =>
    spread(Array.from(at.subarray(from, from + window - 1), (began, index) => (at[from + index + 1]! - began) * 1000)).median;
  return { bound: bytes / 1e6, early: took(10), late: took(loopTimes - window) };
}

const titles: Readonly<Record<StoreName, string>> = {
  postgres: "PostgreSQL",
  mysql: "MariaDB",
  redis: "Redis",
  dynamo: "DynamoDB Local",
  libsql: "libSQL (stand-in for its server)",
  mongo: "MongoDB (stand-in)",
};
const names = Object.keys(titles) as StoreName[];

/** The loop of the group `loop`, on every store that needs a server. */
export const stores: Group = {
  cases: Object.fromEntries(names.map((name) => [name, { once: true as const, sample: () => looped(name) }])),
  rows: names.flatMap((of): Row[] => [
    {
      work: `5,000 steps on ${titles[of]}, 100-byte outputs: bound parameters`,
      figure: { of, key: "bound" },
      unit: "MB",
      target: { of: "figure", atMost: 5 },
    },
    {
      work: "the same: one of the last 1,000 steps",
      figure: { of, key: "late" },
      unit: "µs/step",
      reference: { name: "one of 1,000 steps from the tenth on", figure: { of, key: "early" } },
      target: { of: "ratio", atMost: 1.1 },
    },
  ]),
  notes: () => [
    "Bound parameters: text in UTF-8, 8 bytes for a number. Of SQL the values bound to statements, of Redis the arguments of scripts. Of DynamoDB and",
    "MongoDB the values in requests: not the names of fields and operators, expressions that only name fields, and options of every call.",
  ],
};
