import { readdirSync, readFileSync } from "node:fs";
import { root } from "../public-entries.ts";

/** A block of code on a page. */
export interface DocBlock {
  readonly page: string;
  /** The number of its first line of code, from 1 on. */
  readonly line: number;
  /** What stands behind the opening marks: `ts`, `ts fragment`, empty for what a program prints. */
  readonly kind: string;
  readonly code: string;
}

/** The pages with programs (`typescript`) that a test or a script of their own runs or compiles. */
export const ownTests: Readonly<Record<string, string>> = {
  "docs/run/edge.md": "e2e/edge.test.ts",
  "docs/run/recipes.md": "scripts/recipes.ts",
};

/**
 * What is done with each kind of block: `ts` runs as it is pasted, and prints what its comments say. `ts fragment` compiles in a place where
 * what the page takes as given is declared. `typescript` is a program for `ownTests`. `json` is a definition that can run. `sh` has commands
 * with options that there are. `sql` is a query that its database takes. `text` is only shown.
 */
export const kinds: ReadonlySet<string> = new Set(["ts", "ts fragment", "typescript", "json", "sh", "sh fragment", "sql", "text", ""]);

/** The pages whose code is checked. */
function docPages(): readonly string[] {
  const pages = readdirSync(`${root}/docs`, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".md"));
  return [
    "README.md",
    "packages/cli/README.md",
    "packages/server/README.md",
    "packages/studio/README.md",
    ...pages.sort().map((path) => `docs/${path}`),
  ];
}

/** Returns all blocks of all pages, or those of one kind. */
export function docBlocks(kind?: string): readonly DocBlock[] {
  const blocks = docPages().flatMap((page) => blocksOf(page, readFileSync(`${root}/${page}`, "utf8")));
  return kind === undefined ? blocks : blocks.filter((block) => block.kind === kind);
}

/** Returns the blocks of a page. */
export function blocksOf(page: string, text: string): readonly DocBlock[] {
  return [...text.matchAll(/^( *)```(.*)\n([\s\S]*?)^ *```$/gm)].map(({ index, 1: indent = "", 2: kind = "", 3: code = "" }) => ({
    page,
    line: text.slice(0, index).split("\n").length + 1,
    kind: kind.trim(),
    code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  }));
}
