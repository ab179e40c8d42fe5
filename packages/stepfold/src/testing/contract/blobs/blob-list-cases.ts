import type { BlobContractCase } from "../../blob-contract-case.ts";
import { equal, holds } from "../../expectations.ts";
import { keysIn, putAll } from "./blob-content.ts";

/** More keys than services list in one page. */
const many: readonly string[] = Array.from({ length: 1_050 }, (_, index) => `${index % 3 === 0 ? "executions" : "x"}/${index}/b`);

/** What `list` promises. */
export const blobListCases: readonly BlobContractCase[] = [
  {
    name: "list: nothing where nothing was put",
    async run({ blobs }) {
      equal(await keysIn(blobs), [], "keys");
    },
  },
  {
    name: "list: each of many once, and none of those that were deleted",
    async run({ blobs }) {
      await putAll(blobs, many);
      equal(await keysIn(blobs), many.toSorted(), "keys");
      await blobs.deleteFolder("executions");
      equal(await keysIn(blobs), many.filter((key) => key.startsWith("x/")).sort(), "keys that stay");
    },
  },
  {
    name: "list: says when each was written, in milliseconds since 1970",
    async run({ blobs }) {
      await putAll(blobs, ["a/1", "a/2"]);
      let entries = 0;
      for await (const { key, writtenAt } of blobs.list()) {
        entries++;
        // Clocks differ, but not by days.
        holds(
          Number.isSafeInteger(writtenAt) && Math.abs(writtenAt - Date.now()) < 24 * 60 * 60 * 1000,
          `${key}: writtenAt is ${writtenAt}`,
        );
      }
      equal(entries, 2, "entries");
    },
  },
  {
    name: "list: what comes and goes meanwhile neither repeats nor hides the others",
    async run({ blobs }) {
      const stay = many.map((key) => `stay/${key}`);
      await putAll(blobs, [...many.slice(0, 100), ...stay]);
      const seen: string[] = [];
      for await (const { key } of blobs.list()) {
        seen.push(key);
        if (seen.length === 500) {
          await blobs.deleteFolder("executions");
          await blobs.deleteFolder("x");
          await putAll(blobs, ["aaa/new", "zzz/new"]);
        }
      }
      equal(seen.filter((key) => key.startsWith("stay/")).sort(), stay.toSorted(), "keys of those that stayed");
      equal(seen.length, new Set(seen).size, "number of different keys");
    },
  },
];
