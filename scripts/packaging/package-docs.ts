import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { library, root } from "../public-entries.ts";

/** What is published from `docs`; pictures, and pages on how Stepfold itself is tested, are not. */
const isPublished = /^docs\/(?!testing\/).*\.md$/;
/** The sources that the package has, so that docs may link to them. */
const librarySource = /^packages\/stepfold\/(src\/.*)$/;
/** What only a clone of the repository can show or run. */
const onlyHere = /<!-- only in the repository -->\n[\s\S]*?<!-- end of what is only in the repository -->\n+/g;
const code = /```[\s\S]*?\n```/g;
const picture = /!\[[^\]]*\]\([^)]*\)\n*/g;
const link = /\[([^\]]*)\]\(([^)\s]*)\)/g;

/**
 * Makes the documentation that the package of the library has: the README of the project, ARCHITECTURE.md and `docs`, at the same paths, so
 * that links between them work. A link to what the package does not have becomes plain text.
 *
 * @returns the text of each page, by its path in the package
 */
export function packageDocs(): ReadonlyMap<string, string> {
  const pages = readdirSync(`${root}/docs`, { recursive: true, encoding: "utf8" }).map((path) => `docs/${path.replaceAll("\\", "/")}`);
  const paths = new Set(["README.md", "ARCHITECTURE.md", ...pages.filter((path) => isPublished.test(path))]);
  const targetOf = (path: string): string | null => (paths.has(path) ? path : publishedSource(path));
  return new Map([...paths].sort().map((path) => [path, packagedPage(path, readFileSync(`${root}/${path}`, "utf8"), targetOf)]));
}

/**
 * Returns a page as it is published.
 *
 * @param targetOf the path in the package of a file of the repository; null: the package does not have it
 */
export function packagedPage(path: string, text: string, targetOf: (path: string) => string | null): string {
  const folder = posix.dirname(path);
  const linked = (whole: string, words: string, target: string): string => {
    if (/^(?:#|[a-z]+:)/.test(target)) return whole;
    const [file = "", ...anchor] = target.split(/(?=#)/);
    const found = targetOf(posix.join(folder, file));
    return found === null ? words : `[${words}](${posix.relative(folder, found)}${anchor.join("")})`;
  };
  return outsideCode(text.replace(onlyHere, ""), (words) => words.replace(picture, "").replace(link, linked));
}

/** Changes the text around blocks of code. */
function outsideCode(text: string, change: (words: string) => string): string {
  const blocks = text.match(code) ?? [];
  return text
    .split(code)
    .map((words, index) => `${change(words)}${blocks[index] ?? ""}`)
    .join("");
}

function publishedSource(path: string): string | null {
  const source = librarySource.exec(path)?.[1];
  if (source === undefined || !existsSync(`${library}/${source}`)) return null;
  return statSync(`${library}/${source}`).isFile() ? source : null;
}
