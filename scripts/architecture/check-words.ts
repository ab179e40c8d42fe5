import type { SourceFile } from "./source-file.ts";
import type { Violation } from "./violation.ts";
import type { ReplacedWord } from "./words.ts";

/** Finds exported names that several files of a package declare, except those that mean the same in all of them. */
export function checkMeanings(files: readonly SourceFile[], sharedMeanings: Readonly<Record<string, string>>): Violation[] {
  const unused = new Set(Object.keys(sharedMeanings));
  const packages = new Set(files.map(({ path }) => packageOf(path)));
  const violations = [...packages].flatMap((name) =>
    checkPackage(
      files.filter(({ path }) => packageOf(path) === name),
      sharedMeanings,
      unused,
    ),
  );
  return [
    ...violations,
    ...[...unused].map((name) => ({ rule: "meanings", path: name, message: "is listed as shared by several files and is not: remove it" })),
  ];
}

function packageOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

/** @param unused loses the names that are shared indeed */
function checkPackage(files: readonly SourceFile[], sharedMeanings: Readonly<Record<string, string>>, unused: Set<string>): Violation[] {
  const declared = new Map<string, { readonly path: string; readonly line: number }[]>();
  for (const { path, names } of files) {
    // a function with several signatures counts once
    const exported = new Map(names.filter(({ isExported }) => isExported).map(({ name, line }) => [name, line]));
    for (const [name, line] of exported) declared.set(name, [...(declared.get(name) ?? []), { path, line }]);
  }
  return [...declared].flatMap(([name, places]) => {
    if (places.length > 1) unused.delete(name);
    if (places.length === 1 || Object.hasOwn(sharedMeanings, name)) return [];
    return [{ rule: "meanings", ...places[1]!, message: `${name} has another meaning in ${places[0]!.path}: find another name` }];
  });
}

/** Finds names of types, functions, constants, files and folders with a word that has a better one. */
export function checkWords(files: readonly SourceFile[], words: readonly ReplacedWord[]): Violation[] {
  const used = new Set<string>();
  const violations = files.flatMap((file) =>
    namesIn(file).flatMap(({ name, line }) =>
      words.flatMap((replaced): Violation[] => {
        if (replaced.below && !replaced.below.some((folder) => file.path.startsWith(folder))) return [];
        if (!uses(name, replaced.word)) return [];
        if (exceptionsOf(replaced).includes(name)) {
          used.add(name);
          return [];
        }
        return [{ rule: "words", path: file.path, line, message: `${name}: say ${replaced.instead}` }];
      }),
    ),
  );
  const unused = words.flatMap(exceptionsOf).filter((name) => !used.has(name));
  return [
    ...violations,
    ...unused.map((name) => ({ rule: "words", path: name, message: "is listed as an exception and is none: remove it" })),
  ];
}

function exceptionsOf({ except = {} }: ReplacedWord): readonly string[] {
  return Object.values(except).flat();
}

function namesIn({ path, names }: SourceFile): { readonly name: string; readonly line: number }[] {
  const steps = path
    .slice(path.indexOf("/src/") + "/src/".length)
    .replace(/\.tsx?$/, "")
    .split("/");
  return [...steps.map((name) => ({ name, line: 1 })), ...names];
}

/** True if the word is one of the words of a name in camelCase or kebab-case. */
function uses(name: string, word: RegExp): boolean {
  const kebab = name
    .replace(/_/g, "-")
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase();
  return new RegExp(`(?<![a-z0-9])(?:${word.source})(?![a-z0-9])`).test(kebab);
}
