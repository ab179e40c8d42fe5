import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkCycles } from "./architecture/check-cycles.ts";
import { checkDatabases } from "./architecture/check-databases.ts";
import { checkDependencies, type Manifest } from "./architecture/check-dependencies.ts";
import { checkFixtures, checkFolderSizes } from "./architecture/check-folders.ts";
import { checkGoneNames, readTexts } from "./architecture/check-gone-names.ts";
import { checkImports } from "./architecture/check-imports.ts";
import { checkKitImports, checkPolicies } from "./architecture/check-policies.ts";
import { checkRooms } from "./architecture/check-rooms.ts";
import { checkFindings, checkLengths, checkNames } from "./architecture/check-style.ts";
import { checkMeanings, checkWords } from "./architecture/check-words.ts";
import { databaseGroups, maxLinesOfAll } from "./architecture/databases.ts";
import { goneNames } from "./architecture/gone-names.ts";
import { insideTheKit, policies } from "./architecture/policies.ts";
import { listFiles, readTree } from "./architecture/read-tree.ts";
import { describeViolation, type Violation } from "./architecture/violation.ts";
import { replacedWords, sharedMeanings } from "./architecture/words.ts";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const files = readTree(root);
const paths = listFiles(root);
const manifest = JSON.parse(readFileSync(`${root}/packages/stepfold/package.json`, "utf8")) as Manifest;

/**
 * The lines of code of databases that are longer than their table allows. They may fall. They rise only for what every database has to do:
 * last to move an execution into another partition of what is due.
 */
const ceilings: Readonly<Record<string, number>> = {
  sqlite: 1252,
  mongo: 659,
  dynamo: 1328,
  mysql: 981,
  postgres: 1092,
  redis: 987,
};

function none(violations: readonly Violation[]): void {
  expect(violations.map(describeViolation)).toEqual([]);
}

describe("the house", () => {
  it("has sources to judge", () => expect(files.length).toBeGreaterThan(100));
  it("has arrows only where the table of layers has them", () => none(checkImports(files)));
  it("has folders that import only those below them", () => none(checkRooms(files)));
  it("has no folder over 25 files", () => none(checkFolderSizes(paths)));
  it("has no fixtures among the sources", () => none(checkFixtures(paths)));
  it("has no import cycles, types included", () => none(checkCycles(files)));
  it("has no file over 400 lines and no function over 60", () => none(checkLengths(files, {})));
  it("has no any, bare Error, eval, default export or export *", () => none(checkFindings(files)));
  it("has names that say what is inside", () => none(checkNames(files)));
  it("has no exported name with two meanings", () => none(checkMeanings(files, sharedMeanings)));
  it("uses the words of the field", () => none(checkWords(files, replacedWords)));
  it("has no name of what does not exist any more", () => none(checkGoneNames(readTexts(root), goneNames)));
  it("has databases with the same names of files, none too long", () => none(checkDatabases(files, databaseGroups, ceilings)));
  it(`has no more than ${maxLinesOfAll} lines of code of databases in all`, () => {
    const all = files.filter(({ path }) => path.startsWith("packages/stepfold/src/stores/databases/"));
    expect(all.length).toBeGreaterThan(50);
    expect(all.reduce((sum, { codeLines }) => sum + codeLines, 0)).toBeLessThanOrEqual(maxLinesOfAll);
  });
  it("decides what all databases share in the kit alone", () => none(checkPolicies(files, policies)));
  it("keeps databases out of what the kit decides with", () => none(checkKitImports(files, insideTheKit)));
  it("installs nothing but itself", () => none(checkDependencies(manifest)));
});
