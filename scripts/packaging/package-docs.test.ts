import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { library, root } from "../public-entries.ts";
import { packageDocs, packagedPage } from "./package-docs.ts";

const docs = packageDocs();

/** Returns the links of a page to other files and to places in them, apart from those in code. */
function linksOf(path: string, text: string): { readonly file: string; readonly anchor: string }[] {
  const words = text.replace(/```[\s\S]*?\n```/g, "").replace(/`[^`\n]*`/g, "");
  return [...words.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [file = "", anchor = ""] = target.split("#");
    return [{ file: file === "" ? path : posix.join(posix.dirname(path), file), anchor }];
  });
}

/** Returns the anchors that a page has: its headings, as GitHub and editors write them. */
function anchorsOf(text: string): Set<string> {
  const headings = text.replace(/```[\s\S]*?\n```/g, "").matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, words = ""]) =>
      words
        .toLowerCase()
        .replaceAll("`", "")
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/\s/g, "-"),
    ),
  );
}

describe("the documentation in the package of the library", () => {
  it("is the README of the project with ARCHITECTURE.md and docs, without pictures and without how Stepfold is tested", () => {
    const told = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: library,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [{ files }] = JSON.parse(told) as readonly [{ readonly files: readonly { readonly path: string }[] }];
    const packed = files.map(({ path }) => path).filter((path) => path.endsWith(".md") && path !== "THIRD-PARTY.md");
    expect(packed.sort()).toEqual([...docs.keys()]);
    expect(docs.has("docs/guides/node-types.md")).toBe(true);
    expect([...docs.keys()].filter((path) => path.startsWith("docs/testing/"))).toEqual([]);
    for (const [path, text] of docs) expect(readFileSync(`${library}/${path}`, "utf8"), `${path}: run npm run build`).toBe(text);
  });

  it("has links only to what is in the package, and no picture", () => {
    for (const [path, text] of docs) {
      expect(/!\[.*\]\(|<!-- .*only in the repository -->/.exec(text), path).toBeNull();
      for (const { file, anchor } of linksOf(path, text)) {
        const page = docs.get(file);
        expect(page !== undefined || existsSync(`${library}/${file}`), `${path} links to ${file}`).toBe(true);
        if (anchor !== "") expect(anchorsOf(page ?? ""), `${path} links to ${file}#${anchor}`).toContain(anchor);
      }
    }
    expect(docs.get("README.md")).toContain("](docs/guides/testing.md)");
    expect(docs.get("README.md")).toContain("](src/engine/node/define-node.ts)");
    expect(docs.get("README.md")).not.toContain("npm start");
  });

  it("turns links to what is elsewhere into text, and leaves code as it is", () => {
    const text = "[a](b.md#c) [d](../e.md) [f](https://g) [h](#i)\n```md\n[a](no.md)\n```\n![p](q.png)\n\n[z](no.md)";
    const has = (path: string): string | null => (path === "docs/b.md" ? path : null);
    expect(packagedPage("docs/x.md", text, has)).toBe("[a](b.md#c) d [f](https://g) [h](#i)\n```md\n[a](no.md)\n```\nz");
  });
});

describe("the documentation in the repository", () => {
  it.each([...docs.keys(), "CONTRIBUTING.md"])("%s links to what is there", (path) => {
    for (const { file, anchor } of linksOf(path, readFileSync(`${root}/${path}`, "utf8"))) {
      expect(existsSync(`${root}/${file}`), `${path} links to ${file}`).toBe(true);
      if (anchor !== "") expect(anchorsOf(readFileSync(`${root}/${file}`, "utf8")), `${path} links to ${file}#${anchor}`).toContain(anchor);
    }
  });
});
