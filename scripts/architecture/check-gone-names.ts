import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import type { GoneName } from "./gone-names.ts";
import type { Violation } from "./violation.ts";

/** A file with its text. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** Where people read: sources without tests, docs, and the API reports. */
const places = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "api", "docs", "examples", "packages"];
const isRead = /\.(?:md|ts|txt|json)$/;
const isLeftOut =
  /\/(?:node_modules|dist|test)\/|^\/?packages\/stepfold\/(?:docs\/|[A-Z-]+\.md$)|\.(?:test|test-d|fixture)\.ts$|CHANGELOG\.md$/;

/** Reads the texts that people read. @param root the folder of the repository */
export function readTexts(root: string): TextFile[] {
  return places.flatMap((place) => pathsIn(root, place)).map((path) => ({ path, text: readFileSync(`${root}/${path}`, "utf8") }));
}

function pathsIn(root: string, place: string): string[] {
  const full = `${root}/${place}`;
  if (!existsSync(full)) return [];
  if (!statSync(full).isDirectory()) return [place];
  return readdirSync(full, { withFileTypes: true }).flatMap((entry) => {
    const path = `${place}/${entry.name}`;
    if (isLeftOut.test(entry.isDirectory() ? `/${path}/` : path)) return [];
    if (entry.isDirectory()) return pathsIn(root, path);
    return isRead.test(path) ? [path] : [];
  });
}

/** Finds names of what does not exist any more. */
export function checkGoneNames(files: readonly TextFile[], names: readonly GoneName[]): Violation[] {
  const used = new Set<string>();
  const violations = files.flatMap(({ path, text }) =>
    names.flatMap(({ name, now, except = {} }): Violation[] => {
      const found = linesWith(text, name);
      if (!Object.hasOwn(except, path)) return found.map(({ line, match }) => ({ rule: "gone", path, line, message: `${match}: ${now}` }));
      if (found.length > 0) used.add(`${path} ${name.source}`);
      return [];
    }),
  );
  const unused = names.flatMap(({ name, except = {} }) => Object.keys(except).filter((path) => !used.has(`${path} ${name.source}`)));
  return [...violations, ...unused.map((path) => ({ rule: "gone", path, message: "is listed as an exception and is none: remove it" }))];
}

function linesWith(text: string, name: RegExp): { readonly line: number; readonly match: string }[] {
  if (!name.test(text)) return [];
  return text.split("\n").flatMap((line, index) => {
    const match = name.exec(line)?.[0];
    return match === undefined ? [] : [{ line: index + 1, match }];
  });
}
