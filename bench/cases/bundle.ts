import { bundled } from "../bundled.ts";
import type { Group } from "../group.ts";

export const bundle: Group = {
  cases: {
    engine: { once: true, sample: () => bundled('export { WorkflowEngine } from "stepfold";') },
    core: { once: true, sample: () => bundled('export * from "stepfold/core";') },
  },
  rows: [
    {
      work: 'import { WorkflowEngine } from "stepfold", min+gzip',
      figure: { of: "engine", key: "size" },
      unit: "KB",
      target: { of: "figure", atMost: 66 },
    },
    {
      work: "all of stepfold/core, min+gzip",
      figure: { of: "core", key: "size" },
      unit: "KB",
      target: { of: "figure", atMost: 37 },
    },
  ],
  notes(samples) {
    return [...samples].map(([name, [sample = {}]]) => {
      const parts = Object.entries(sample)
        .filter(([key]) => key.startsWith("part "))
        .toSorted(([, a], [, b]) => b - a)
        .map(([key, size]) => `${key.slice(5)} ${size.toFixed(1)} KB`);
      return `bundle of ${name}: ${parts.join(", ")}`;
    });
  },
};
