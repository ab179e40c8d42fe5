import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);

/** The types of the files that the build writes. Files of other types are not served. */
const mediaTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
/** Fonts are compressed already. */
const compressible: ReadonlySet<string> = new Set([".html", ".js", ".css", ".svg"]);

/** A file of the page, in memory. */
export class PageFile {
  readonly mediaType: string;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly #isCompressible: boolean;
  #compressed: Promise<Uint8Array<ArrayBuffer>> | undefined;

  constructor(extension: string, content: Uint8Array<ArrayBuffer>) {
    this.mediaType = mediaTypes[extension]!;
    this.content = content;
    this.#isCompressible = compressible.has(extension);
  }

  /** The content as gzip, made once; null if that would not help. */
  compressed(): Promise<Uint8Array<ArrayBuffer>> | null {
    if (!this.#isCompressible) return null;
    this.#compressed ??= compress(this.content).then((bytes) => new Uint8Array(bytes));
    return this.#compressed;
  }
}

/** Reads all files of a folder that can be served, by their path: `/assets/index-B1x2.js`. Nothing is read later. */
export function readPageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const extension = extname(entry.name);
    if (!entry.isFile() || !Object.hasOwn(mediaTypes, extension)) continue;
    const path = join(entry.parentPath, entry.name);
    const url = path.slice(folder.length).replaceAll("\\", "/").replace(/^\/*/, "/");
    files.set(url, new PageFile(extension, new Uint8Array(readFileSync(path))));
  }
  return files;
}
