import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { root } from "../public-entries.ts";

/** Options that programs do not write: what stores and tests of stores are asked for. */
const ofStores = ["ClaimOptions", "FirstCommitOptions", "StepOptions"];

it("takes undefined for every option that may be left out, also with exactOptionalPropertyTypes", () => {
  const refused = readdirSync(`${root}/api`).flatMap((name) =>
    [...readFileSync(`${root}/api/${name}`, "utf8").matchAll(/^interface (\w+(?:Options|Query|Filter))\b[^\n]*\{\n([\s\S]*?)^\}/gm)].flatMap(
      ([, type = "", body = ""]) =>
        ofStores.includes(type)
          ? []
          : [...body.matchAll(/^ {4}(?:readonly )?(\w+)\?: (.*);$/gm)]
              .filter(([, , value = ""]) => value !== "unknown" && !/\bundefined$/.test(value))
              .map(([, member]) => `${name}: ${type}.${member}`),
    ),
  );
  expect(refused).toEqual([]);
});
