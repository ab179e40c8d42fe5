import { describe, expect, it } from "vitest";
import { checkCycles } from "./check-cycles.ts";
import { checkDependencies } from "./check-dependencies.ts";
import { checkFixtures, checkFolderSizes } from "./check-folders.ts";
import { checkImports } from "./check-imports.ts";
import { checkRooms } from "./check-rooms.ts";
import { checkFindings, checkLengths, checkNames } from "./check-style.ts";
import { checkMeanings, checkWords } from "./check-words.ts";
import { readSource, type SourceFile } from "./source-file.ts";

const src = "packages/stepfold/src";

/** Makes source files of a small library. Keys are paths below the library's `src` (or from `packages/`), values are texts. */
function tree(texts: Record<string, string>): SourceFile[] {
  return Object.entries(texts).map(([path, text]) => readSource({ path: path.startsWith("packages/") ? path : `${src}/${path}`, text }));
}

function messages(violations: readonly { message: string }[]): string[] {
  return violations.map(({ message }) => message);
}

const lines = (count: number): string => "  work();\n".repeat(count);

describe("checkImports", () => {
  it.each([
    ["core/a.ts", 'import { b } from "../engine/b.ts";', "core may not import engine"],
    ["core/a.ts", 'import type { B } from "../ports/b.ts";', "core may not import ports"],
    ["core/a.ts", 'export { b } from "../engine/b.ts";', "core may not import engine"],
    ["core/a.ts", 'export type { B } from "../engine/b.ts";', "core may not import engine"],
    ["core/a.ts", 'export const b = (): unknown => import("../engine/b.ts");', "core may not import engine"],
    ["core/a.ts", 'export type B = import("../engine/b.ts").B;', "core may not import engine"],
    ["core/a.ts", 'import "../engine/b.ts";', "core may not import engine"],
    ["ports/a.ts", 'import { b } from "../expressions/b.ts";', "ports may not import expressions"],
    ["engine/a.ts", 'import { b } from "../runtime/b.ts";', "engine may not import runtime"],
    ["nodes/a.ts", 'import type { B } from "../engine/turn.ts";', "nodes may not import engine"],
    ["engine/node/a.ts", 'import type { B } from "../turn.ts";', "engine/node may not import engine"],
    ["environment/a.ts", 'import { b } from "../engine/b.ts";', "environment may not import engine"],
    ["queues/memory/a.ts", 'import { b } from "../../engine/b.ts";', "queues/memory may not import engine"],
    ["nodes/a.ts", 'import { b } from "./http/b.ts";', "nodes may not import nodes/http"],
    ["stores/kit/a.ts", 'import { b } from "../databases/memory/b.ts";', "stores/kit may not import stores/databases/memory"],
    [
      "stores/databases/memory/a.ts",
      'import { b } from "../sqlite/b.ts";',
      "stores/databases/memory may not import stores/databases/sqlite",
    ],
    [
      "stores/databases/mysql/a.ts",
      'import { b } from "../sqlite-dialect/b.ts";',
      "stores/databases/mysql may not import stores/databases/sqlite-dialect",
    ],
    [
      "stores/databases/redis/a.ts",
      'import { b } from "../upstash/b.ts";',
      "stores/databases/redis may not import stores/databases/upstash",
    ],
    ["stores/databases/sqlite/a.ts", 'import { b } from "../../../engine/b.ts";', "stores/databases/sqlite may not import engine"],
    [
      "stores/databases/sqlite/a.ts",
      'import { b } from "../../wrappers/values/b.ts";',
      "stores/databases/sqlite may not import stores/wrappers/values",
    ],
    ["stores/wrappers/tiered/a.ts", 'import { b } from "../blobs/b.ts";', "stores/wrappers/tiered may not import stores/wrappers/blobs"],
    [
      "stores/wrappers/values/a.ts",
      'import { b } from "../../databases/memory/b.ts";',
      "stores/wrappers/values may not import stores/databases/memory",
    ],
    ["stores/from-url/a.ts", 'import { b } from "../wrappers/encrypted/b.ts";', "stores/from-url may not import stores/wrappers/encrypted"],
    ["testing/a.ts", 'import { b } from "../stores/databases/memory/b.ts";', "testing may not import stores/databases/memory"],
    ["index.ts", 'export { b } from "./stores/databases/memory/b.ts";', 'the entry "stepfold" may not import stores/databases/memory/b.ts'],
  ])("holds the arrow: %s %s", (path, text, message) => {
    expect(messages(checkImports(tree({ [path]: text })))).toEqual([message]);
  });

  it.each([
    ["engine/a.ts", 'import { b } from "node:fs";'],
    ["runtime/a.ts", 'import { b } from "node:crypto";'],
    ["testing/a.ts", 'import { b } from "node:assert";'],
    ["stores/databases/libsql/a.ts", 'import { b } from "node:sqlite";'],
    ["stores/wrappers/encrypted/a.ts", 'import { b } from "node:crypto";'],
    ["index.ts", 'export { b } from "node:fs";'],
  ])("keeps browsers free of Node: %s %s", (path, text) => {
    expect(messages(checkImports(tree({ [path]: text })))[0]).toMatch(/exists on Node only/);
  });

  it.each([
    ["core/a.ts", 'import { b } from "ajv";'],
    ["stores/databases/sqlite/a.ts", 'import { b } from "better-sqlite3";'],
    ["engine/a.ts", 'import { b } from "zod";'],
    ["testing/a.ts", 'import { b } from "vitest";'],
  ])("knows who may import which package: %s %s", (path, text) => {
    expect(messages(checkImports(tree({ [path]: text })))[0]).toMatch(/is not this part's to import/);
  });

  it.each([
    ["core/a.ts", 'import { b } from "./index.ts";', "./index.ts is for users: import the file that has the name"],
    ["engine/a.ts", 'import { b } from "../core/index.ts";', "../core/index.ts is for users: import the file that has the name"],
    ["core/a.ts", 'import { b } from "../../../cli/src/b.ts";', "../../../cli/src/b.ts leaves the library"],
    ["attic/a.ts", "export const a = 1;\nimport './b.ts';", "is in a folder that the table of layers does not know"],
    ["stores/attic/a.ts", "import './b.ts';", "is in a folder that the table of layers does not know"],
    ["packages/cli/src/a.ts", 'import { b } from "../../stepfold/src/core/b.ts";', "../../stepfold/src/core/b.ts leaves packages/cli"],
    ["packages/attic/src/a.ts", 'import { b } from "stepfold";', "is in a package that the table of layers does not know"],
  ])("closes the doors: %s %s", (path, text, message) => {
    expect(messages(checkImports(tree({ [path]: text })))).toEqual([message]);
  });

  it("lets through what the table allows", () => {
    const allowed = tree({
      "core/a.ts": 'import { b } from "./b.ts";',
      "engine/a.ts": 'import { b } from "../core/b.ts";',
      "nodes/a.ts": 'import { defineNode } from "../engine/node/define-node.ts";',
      "nodes/http/a.ts": 'import { b } from "../noop.ts"; import { lookup } from "node:dns";',
      "stores/databases/sqlite/a.ts": 'import { b } from "../sqlite-dialect/b.ts"; import { DatabaseSync } from "node:sqlite";',
      "stores/databases/redis/a.ts": 'import { b } from "../../kit/b.ts"; import { c } from "./c.ts";',
      "stores/databases/upstash/a.ts": 'import { b } from "../redis/b.ts";',
      "stores/wrappers/tiered/a.ts": 'import { b } from "../values/b.ts"; import { c } from "../../kit/c.ts";',
      "stores/from-url/a.ts": 'import { b } from "../databases/redis/b.ts"; import { c } from "node:fs";',
      "index.ts": 'export { b } from "./engine/b.ts";',
      "packages/cli/src/a.ts":
        'import { b } from "stepfold/stores/sqlite"; import { c } from "./c.ts"; import { Command } from "commander";',
    });
    expect(checkImports(allowed)).toEqual([]);
  });
});

describe("checkRooms", () => {
  it.each([
    ["core/values/a.ts", 'import { b } from "../definition/b.ts";', "core/values may not import core/definition"],
    ["core/errors/a.ts", 'import type { B } from "../snapshot/b.ts";', "core/errors may not import core/snapshot"],
    ["core/transition/draft/a.ts", 'import { b } from "../plan.ts";', "core/transition/draft may not import core/transition"],
    ["core/explain/a.ts", 'import { b } from "../reading/b.ts";', "core/explain may not import core/reading"],
    ["core/values/a.ts", 'import { b } from "../attic/b.ts";', "core/values may not import core/attic"],
    ["core/attic/a.ts", "export const a = 1;", "core/attic is a folder that the table of rooms does not know"],
    ["expressions/syntax/a.ts", 'import { b } from "../compile/b.ts";', "expressions/syntax may not import expressions/compile"],
    ["engine/attempt/a.ts", 'import { b } from "../turn.ts";', "engine/attempt may not import engine"],
  ])("holds the order of the folders of a part: %s %s", (path, text, message) => {
    expect(messages(checkRooms(tree({ [path]: text })))).toEqual([message]);
  });

  it("finds two folders that import each other, whichever they are", () => {
    const names = ["errors", "values", "snapshot", "definition", "transition/joins", "transition", "explain", "reading"];
    for (const one of names) {
      for (const other of names) {
        if (one === other) continue;
        const pair = {
          [`core/${one}/a.ts`]: `import type { B } from "${"../".repeat(one.split("/").length)}${other}/b.ts";`,
          [`core/${other}/c.ts`]: `import { d } from "${"../".repeat(other.split("/").length)}${one}/d.ts";`,
        };
        expect(checkRooms(tree(pair)).length).toBeGreaterThan(0);
      }
    }
  });

  it("lets through what lies below, the same folder, and the entry", () => {
    const allowed = tree({
      "core/snapshot/a.ts": 'import { b } from "../values/b.ts"; import { c } from "./c.ts";',
      "core/index.ts": 'export { apply } from "./transition/apply.ts";',
      "engine/turn.ts": 'import { b } from "./attempt/b.ts"; import { c } from "./node/c.ts";',
      "nodes/a.ts": 'import { b } from "./b.ts";',
    });
    expect(checkRooms(allowed)).toEqual([]);
  });
});

describe("checkFolderSizes", () => {
  const paths = (count: number): string[] => Array.from({ length: count }, (_, i) => `${src}/core/values/a${i}.ts`);

  it("takes 25 files, and refuses 26", () => {
    expect(checkFolderSizes(paths(25))).toEqual([]);
    expect(messages(checkFolderSizes([...paths(26), `${src}/core/a.ts`]))).toEqual(["26 files, more than 25"]);
  });
  it("takes a folder that is listed, with those inside it", () => {
    expect(checkFolderSizes(paths(26), { [`${src}/core`]: "being rebuilt" })).toEqual([]);
    expect(checkFolderSizes(paths(26), { [`${src}/cor`]: "being rebuilt" })).toHaveLength(1);
  });
});

describe("checkFixtures", () => {
  const fixture = `${src}/core/flow.fixture.ts`;

  it("finds a fixture among the sources", () => expect(checkFixtures([fixture])).toHaveLength(1));
  it("takes one in the folder of tests, and one that is listed", () => {
    expect(checkFixtures(["packages/stepfold/test/core/flow.fixture.ts"])).toEqual([]);
    expect(checkFixtures([fixture], { [`${src}/core`]: "being rebuilt" })).toEqual([]);
  });
});

describe("checkCycles", () => {
  it("finds circles of values", () => {
    const circle = {
      "core/a.ts": 'import { b } from "./b.ts";',
      "core/b.ts": 'import { c } from "./c.ts";',
      "core/c.ts": 'import { a } from "./a.ts";',
    };
    expect(messages(checkCycles(tree(circle)))).toEqual([`${src}/core/a.ts -> ${src}/core/b.ts -> ${src}/core/c.ts -> ${src}/core/a.ts`]);
  });

  it("finds circles of types", () => {
    const circle = { "core/a.ts": 'import type { B } from "./b.ts";', "core/b.ts": 'export type { A } from "./a.ts";' };
    expect(checkCycles(tree(circle))).toHaveLength(1);
  });

  it("takes a diamond for what it is", () => {
    const diamond = {
      "core/a.ts": 'import "./b.ts"; import "./c.ts";',
      "core/b.ts": 'import "./d.ts";',
      "core/c.ts": 'import "./d.ts";',
      "core/d.ts": "",
    };
    expect(checkCycles(tree(diamond))).toEqual([]);
  });
});

describe("checkLengths", () => {
  const longFile = tree({ "core/a.ts": lines(401) });
  const longFunction = tree({ "core/a.ts": `export function fold() {\n${lines(59)}}\n` });

  it("finds a file over 400 lines", () => expect(messages(checkLengths(longFile))).toEqual(["401 lines, more than 400"]));
  it("finds a function over 60 lines, with its name", () =>
    expect(messages(checkLengths(longFunction))).toEqual(["fold has 61 lines, more than 60"]));
  it.each([
    ["an arrow function", `const fold = () => {\n${lines(59)}};`],
    ["a method", `class A {\n fold() {\n${lines(59)}}\n}`],
    ["a method of an object", `const a = {\n fold() {\n${lines(59)}}\n};`],
  ])("measures %s too", (_kind, text) =>
    expect(messages(checkLengths(tree({ "core/a.ts": text })))).toEqual(["fold has 61 lines, more than 60"]));
  it("allows exactly 400 and 60", () => {
    expect(checkLengths(tree({ "core/a.ts": lines(400), "core/b.ts": `function fold() {\n${lines(58)}}\n` }))).toEqual([]);
  });
  it("takes a listed exception, and wants a useless one removed", () => {
    expect(checkLengths(longFunction, { [`${src}/core/a.ts#fold`]: "one table" })).toEqual([]);
    expect(checkLengths([], { [`${src}/core/a.ts#fold`]: "one table" })).toHaveLength(1);
  });
});

describe("checkFindings", () => {
  it.each([
    ["any", "export const a = (b: any): void => {};"],
    ["any", "export type A = Record<string, any>;"],
    ["default export", "export default 1;"],
    ["eval", 'export const a = eval("1");'],
    ["eval", 'export const a = new Function("return 1");'],
    ["eval", 'export const a = Function("return 1");'],
    ["export *", 'export * from "./b.ts";'],
    ["export *", 'export * as b from "./b.ts";'],
    ["throw new Error", 'export function a(): never { throw new Error("no"); }'],
  ])("finds %s in %s", (what, text) => {
    expect(checkFindings(tree({ "core/a.ts": text })).map(({ rule }) => rule)).toEqual([what]);
  });

  it("lets words in comments, texts and names be", () => {
    const innocent =
      '// any eval throw new Error("x")\nexport const any = "export * from"; export class E extends Error {}\nthrow new E();';
    expect(checkFindings(tree({ "core/a.ts": innocent }))).toEqual([]);
  });
});

describe("checkNames", () => {
  it.each([
    "core/utils.ts",
    "core/helpers.ts",
    "engine/types.ts",
    "engine/common/a.ts",
    "engine/base-store.ts",
    "engine/store-impl.ts",
    "core/Apply.ts",
  ])("refuses %s", (path) => expect(checkNames(tree({ [path]: "" }))).toHaveLength(1));
  it("takes kebab-case nouns and verbs", () =>
    expect(checkNames(tree({ "stores/databases/sqlite/sqlite-store.ts": "", "index.ts": "" }))).toEqual([]));
});

describe("checkDependencies", () => {
  it("wants nothing beside the library", () => {
    expect(checkDependencies({})).toEqual([]);
    expect(messages(checkDependencies({ dependencies: { pg: "8" } }))).toEqual(["pg would be installed with the library"]);
    expect(messages(checkDependencies({ peerDependencies: { zod: "4" } }))).toHaveLength(1);
  });
});

describe("checkMeanings", () => {
  const two = tree({ "core/a.ts": "export const place = 1;", "engine/b.ts": "export function place(): void {}" });

  it("refuses a name that two files export, and says where the other one is", () =>
    expect(messages(checkMeanings(two, {}))).toEqual([`place has another meaning in ${src}/core/a.ts: find another name`]));

  it("lets names be that are not exported, exported again, or declared by several signatures", () => {
    const texts = {
      "a.ts": "const x = 1;",
      "b.ts": "const x = 2; export { y } from './c.ts';",
      "c.ts": "export function y(a: 1): 1;\nexport function y(): 1 {}",
    };
    expect(checkMeanings(tree(texts), {})).toEqual([]);
  });

  it("lets two packages use one name, as they do not read each other", () =>
    expect(
      checkMeanings(tree({ "packages/cli/src/a.ts": "export const x = 1;", "packages/server/src/a.ts": "export const x = 2;" }), {}),
    ).toEqual([]));

  it("takes a name that is listed with its one meaning, and no list that is out of date", () => {
    expect(checkMeanings(two, { place: "where" })).toEqual([]);
    expect(messages(checkMeanings(two, { place: "where", clock: "time" }))).toEqual([
      "is listed as shared by several files and is not: remove it",
    ]);
  });
});

describe("checkWords", () => {
  const words = [{ word: /turns?/, instead: "permits", below: [`${src}/stores/`], except: { "of the event loop": ["nextTurn"] } }];

  it.each([
    ["a function", "stores/a.ts", "export function takeTurn(): void {}"],
    ["a constant that is not exported", "stores/a.ts", "const turns = 1;"],
    ["a type", "stores/a.ts", "interface TurnRules {}"],
    ["a file", "stores/turn-rules.ts", ""],
    ["a folder", "stores/turns/a.ts", ""],
  ])("refuses the word in the name of %s", (_, path, text) => {
    const files = tree({ [path]: text, "stores/b.ts": "const nextTurn = 1;" });
    expect(checkWords(files, words)).toMatchObject([{ rule: "words", message: expect.stringContaining("say permits") }]);
  });

  it("lets it be as a part of another word, in other folders, and where it is listed", () => {
    const texts = { "stores/a.ts": "const saturns = 1; const returned = 2; const nextTurn = 3;", "engine/turn.ts": "export class Turn {}" };
    expect(checkWords(tree(texts), words)).toEqual([]);
  });

  it("refuses an exception that nothing uses", () =>
    expect(messages(checkWords(tree({ "stores/a.ts": "" }), words))).toEqual(["is listed as an exception and is none: remove it"]));
});
