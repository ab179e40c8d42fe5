import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const source = join(import.meta.dirname, "../src");
const paths = readdirSync(source, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
const modules = new Map(paths.filter((path) => path.endsWith(".module.css")).map((path) => [path, classesOf(read(path))]));

/** The names by which code uses the classes of a module, and whether it also uses names that it computes. */
interface Use {
  readonly names: readonly string[];
  readonly isComputed: boolean;
}

function read(path: string): string {
  return readFileSync(join(source, path), "utf8");
}

function classesOf(css: string): ReadonlySet<string> {
  const selectors = css.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\{[^{}]*\}/g, "{}");
  return new Set([...selectors.matchAll(/\.([A-Za-z_][\w-]*)/g)].map(([, name]) => name!));
}

/** Finds which modules a file imports, and which of their classes it uses. */
function usesIn(path: string): readonly (readonly [module: string, use: Use])[] {
  const text = read(path);
  const code = text.replace(/^import .*$/gm, "");
  return [...text.matchAll(/^import (\w+) from "([^"]+\.module\.css)";$/gm)].map(([, name, target]) => {
    const names = [...code.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, "g"))].map(([, used]) => used!);
    return [normalize(join(dirname(path), target!)).replaceAll("\\", "/"), { names, isComputed: code.includes(`${name}[`) }] as const;
  });
}

const uses = paths.filter((path) => /\.tsx?$/.test(path)).flatMap((path) => usesIn(path).map(([module, use]) => ({ path, module, use })));

test("there are modules and they are used", () => {
  expect(modules.size).toBeGreaterThan(10);
  expect(uses.length).toBeGreaterThan(10);
});

test("code uses only classes that its module has", () => {
  const unknown = uses.flatMap(({ path, module, use }) =>
    use.names.filter((name) => !modules.get(module)?.has(name)).map((name) => `${path}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test("every class of a module is used", () => {
  const unused = [...modules].flatMap(([module, classes]) => {
    const own = uses.filter((use) => use.module === module);
    if (own.some(({ use }) => use.isComputed)) return [];
    const names = new Set(own.flatMap(({ use }) => use.names));
    return [...classes].filter((name) => !names.has(name)).map((name) => `${module}: ${name}`);
  });
  expect(unused).toEqual([]);
});
